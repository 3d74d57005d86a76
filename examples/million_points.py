import os
import signal
import sys
import time

import numpy as np
from distributed import Client, LocalCluster

import giantstep as gs

if __name__ == "__main__":
    side = int(sys.argv[1]) if sys.argv[1:] else 1000  # side * side points
    model = gs.model("tanh", link="sign", width=0.5, step_samples=16.0)
    values = {"fit.ridge": np.geomspace(1e-3, 1e1, side)[:, None], "fit.samples": np.linspace(0.1, 5.0, side)}
    begun, total = time.perf_counter(), side * side
    killed: list[int] = []

    with LocalCluster(n_workers=2, threads_per_worker=1) as cluster, Client(cluster) as client:
        client.wait_for_workers(2)

        def kill_one(stage: str, done: int, total: int) -> None:
            if not killed and done > 0.3 * total:
                killed.append(next(iter(cluster.workers.values())).pid)
                os.kill(killed[0], signal.SIGKILL)
                print(f"{done} points after {time.perf_counter() - begun:.0f} s, a worker is killed", flush=True)

        gs.solve_into(model, "million.zarr", values, executor=client.get_executor(), progress=kill_one)

    found = gs.Dataset.read("million.zarr")
    solved = list(found["status"]).count("ok")
    print(f"{len(found)} points in {time.perf_counter() - begun:.0f} s, {solved} of them ok")
    rows = slice(3 * total // 10, 42 * total // 100)  # those about the kill, once more in one process
    again = gs.solve_many(model, {key: found[key][rows] for key in values}, executor=1)
    names = ("test_error", "train_error", "residual")
    same = all(np.array_equal(found.numbers(name)[rows], again.numbers(name)) for name in names)
    worst = found.numbers("residual").max()
    print(f"the same bits in one process: {same}; largest residual {worst:.1e}")

import os
import signal
import time

import numpy as np
from dask.distributed import Client, LocalCluster

import giantstep as gs

if __name__ == "__main__":
    model = gs.model("tanh", link="sign", width=0.5, step_samples=16.0)
    values = {"fit.ridge": np.geomspace(1e-3, 1e1, 1000)[:, None], "fit.samples": np.linspace(0.1, 5.0, 1000)}
    begun, killed = time.perf_counter(), []

    with LocalCluster(n_workers=2, threads_per_worker=1) as cluster, Client(cluster) as client:
        client.wait_for_workers(2)

        def kill_one(stage: str, done: int, total: int) -> None:
            if not killed and done > 300_000:
                killed.append(next(iter(cluster.workers.values())).pid)
                os.kill(killed[0], signal.SIGKILL)
                print(f"{done} points after {time.perf_counter() - begun:.0f} s, a worker is killed", flush=True)

        gs.solve_into(model, "million.zarr", values, executor=client.get_executor(), progress=kill_one)

    found = gs.Dataset.read("million.zarr")
    print(f"{len(found)} points in {time.perf_counter() - begun:.0f} s, {found['status'].count('ok')} of them ok")
    rows = slice(300_000, 420_000)  # those about the kill, once more in one process
    again = gs.solve_many(model, {key: found[key][rows] for key in values}, executor=1)
    names = ("test_error", "train_error", "residual")
    same = all(found[name][rows].tobytes() == again[name].tobytes() for name in names)
    print(f"the same bits in one process: {same}; largest residual {found['residual'].max():.1e}")

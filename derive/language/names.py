"""How the symbols of the theory are written in LaTeX; everything not named here keeps SymPy's spelling."""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

LATEX: Mapping[str, str] = MappingProxyType(
    {
        "ridge": r"\lambda",
        "noise": r"\sigma_{\varepsilon}^{2}",
        "flips": r"p_{\mathrm{flip}}",
        "probit": r"\tau^{2}",
        "inverse_dimension": r"d^{-1}",
        "fraction": r"\pi",
        "psi": r"\psi",
        "kappa": r"\kappa",
        "loading": r"\ell",
        "zeta": r"\zeta",
        "zeta_hat": r"\hat{\zeta}",
        "norm": "o",
        "norm_hat": r"\hat{o}",
        "mu_c": r"\mu_{c}",
        "chi": r"\chi",
        "delta_c": r"\delta",
        "psi_hat": r"\hat{\psi}",
        "Q1": r"Q^{(1)}",
        "Q2": r"Q^{(2)}",
        "Q1_hat": r"\hat{q}^{(1)}",
        "Q2_hat": r"\hat{q}^{(2)}",
        "V1": r"V^{(1)}",
        "V2": r"V^{(2)}",
        "V1_hat": r"\hat{V}^{(1)}",
        "V2_hat": r"\hat{V}^{(2)}",
        "adjoint": r"\tau",
        "mu0": r"\mu_{0}",
        "mu1": r"\mu_{1}",
        "mu2sq": r"\mu_{\star}^{2}",
        "nu0": r"\nu_{0}",
        "nu1": r"\nu_{1}",
        "nu2sq": r"\nu_{\star}^{2}",
        "label_nu0": r"\nu_{0}^{y}",
        "label_nu1": r"\nu_{1}^{y}",
        "label_nu2sq": r"(\nu_{\star}^{y})^{2}",
        "mean": r"\bar{f}",
        "slope": r"f_{\perp}",
        "Delta": r"\Delta",
        "V": "V",
        "risk": r"\mathcal{R}",
        "clean_risk": r"\mathcal{R}_{\star}",
        "free_energy": r"\Phi",
        "Px": "P",
        "Sx": "S",
        "Mx": "M",
        "Px^-1": r"P^{-1}_{b c x}",
        "Sigma": r"\Sigma",
        "residual_e": "e",
        "x_F.Res.theta": r"x_F\cdot\mathrm{Res}\,\theta",
        "x_F.Res.x_G": r"x_F\cdot\mathrm{Res}\,x_G",
        "k_theta12": r"k_{\theta,12}",
        "k_theta22": r"k_{\theta,22}",
        "S_theta12": r"S_{\theta,12}",
        "S_theta22": r"S_{\theta,22}",
        "Sigma - 1 + w": r"\Sigma-1+w",
        "x.Mw": r"x\cdot Mw",
        "x.x'": r"x\cdot x'",
        "rho_2": r"\rho'",
        "z_2": r"z'",
        "theta_2": r"\theta'",
        "x.Hx": r"x\cdot Hx",
        "l A^-1 l/d": r"l\cdot A^{-1}l/d",
        "S_theta": r"S_{\theta}",
        "Sigma_cov": r"\Sigma",
        "trace_C": r"\tfrac{1}{d}\operatorname{tr} C",
        "spectrum": r"\rho",
        "gram": r"\Gamma",
        "member": r"e",
        "own": r"g",
        "Coupling": r"J",
        "law_rows": r"\varrho",
        "law_tr": r"\varrho",
        "law_vv": r"\varrho^{vv}",
        "Res": r"\mathrm{Res}",
        "H_left": r"\bar{H}",
        "h_right": r"h^{\theta}",
        "on_samples": r"w^{\theta}",
        "on_left": r"\bar{w}^{\theta}",
        "on_views": r"g^{\theta}",
        "field_views": r"f^{\theta}",
        "mean_views": r"\mathrm{Res}^{\theta}",
        "added_views": r"X^{\theta\theta}",
        "X_along": r"X^{tt}",
        "place": r"u^{\theta}",
        "place_left": r"u^{\theta\theta}",
        "place_right": r"\bar{u}^{\theta\theta}",
        "unit_Z": r"\mathbf{1}",
        "mix": r"a^{\theta}",
        "law_along": r"\varrho^{tt}",
        "h_left": r"\bar{h}^{\epsilon}",
        "norm_right": r"o^{k}",
        "norm_left": r"\bar{o}^{k}",
        "norm_mean": r"o^{\mathrm{Res}}",
        "put_back": r"o^{D}",
        "put_left": r"\bar{o}^{D}",
        "along": r"k",
        "earlier": r"k^{f}",
        "earlier_mean": r"k^{f,\mathrm{Res}}",
        "earlier_back": r"k^{f,D}",
        "earlier_left": r"\bar{k}^{f,D}",
        "earlier_seen": r"w^{f}",
        "earlier_left_seen": r"\bar{w}^{f}",
        "earlier_field": r"f^{f}",
        "met_all": r"n",
        "tie": r"U^{0}",
        "swap": r"\Pi",
        "P_u": r"\Pi",
        "tie_last": r"n^{0}",
        "R_n": r"R_{n}",
        "unit_U": r"\mathbf{1}",
        "of_block": r"e",
        "w_s": r"w_{s}",
        "delta_s": r"\delta_{s}",
        "M_w+eta+g_delta": r"M_{s}w_{s-1}+\eta_{s}+g_{s}\delta_{s-1}/c_{s-1}",
        "h_delta+y_w+nu": r"h_{s}\delta_{s-1}+y_{s}\cdot w_{s-1}+\nu_{s}",
        "c*dD/dc": r"c\,\partial D/\partial c",
        "l.A^-1.l/d": r"\delta\cdot A^{-1}\delta/d",
        "l.A^-1.W_cu": r"\delta\cdot A^{-1}W_{c}u",
        "T_bchi_b-T_bk_b.S.k_cT_c": r"T_{b}\chi_{b}\delta_{bc}-T_{b}k_{b}\cdot S_{bc}k_{c}T_{c}",
        "T_bk_b.P.u": r"T_{b}k_{b}\cdot P_{bc}u",
        "j_along": r"j",
        "H_j": r"(Hj)",
        "j_H": r"(j\bar{H})",
        "seen": r"u^{d}",
        "mean_left": r"u^{a}",
        "mean_right": r"\bar{u}^{a}",
        "law_t": r"\varrho^{t}",
        "law_own": r"\varrho^{xx}",
        "upper": r"u^{\uparrow}",
        "lower": r"u^{\downarrow}",
        "first": r"u^{(1)}",
        "inside": r"u^{(12)}",
        "last": r"u^{(3)}",
        "out": r"\bar{u}",
        "fixed": r"N^{0}",
        "unit_G": r"\mathbf{1}",
        "unit_D": r"\mathbf{1}",
        "sample": r"k",
        "base": r"X^{0}",
        "own_rows": r"u^{s}",
        "of_step": r"e^{s}",
        "X_own": r"X^{s}",
        "Res_own": r"\mathrm{Res}^{s}",
        "Res_at": r"\mathrm{Res}^{x}",
        "law_vo": r"\varrho^{v\perp}",
        "law_oo": r"\varrho^{\perp}",
        "law_vn": r"\varrho^{vc}",
        "law_on": r"\varrho^{\perp c}",
        "law_nn": r"\varrho^{cc}",
        "pbar": r"\bar{M}_{b c}",
        "L_rest": "L",
        "vv": r"(v^{1}\cdot v^{2})",
        "vo": r"(v^{1}\cdot o^{2})",
        "oo": r"(o^{1}\cdot o^{2})",
        "overlap": r"\varrho",
        "Q1_12": r"Q^{(1)}_{12}",
        "Q2_12": r"Q^{(2)}_{12}",
        "Q1_hat_12": r"\hat{q}^{(1)}_{12}",
        "Q2_hat_12": r"\hat{q}^{(2)}_{12}",
        "zeta_hat_perp": r"\hat{\zeta}_{\perp}",
        "pairs": r"\Phi_{\mathrm{pairs}}",
        "Phi_energetic": r"\Phi_{\mathrm{energetic}}",
        "Phi_m": r"\Phi_{m}",
        "test_error": r"\varepsilon_{\mathrm{test}}",
        "train_error": r"\varepsilon_{\mathrm{train}}",
        "train_loss": r"\ell_{\mathrm{train}}",
        "L": r"\mathcal{L}",
        "prox": r"\operatorname{prox}",
        "prox_u": r"\operatorname{prox}_{u}",
        "rho": r"\rho",
        "bias": r"\mathsf{b}",
        "y_clean": r"f_{\star}",
        "y_probit": r"y_{\tau}",
        "s_star": r"s_{\star}",
        "v_star": r"v_{\star}",
        "y_mean": r"\bar{y}",
        "y_predicted": r"\hat{y}",
        "trials": "N",
        "y_square": r"\overline{y^{2}}",
        "F": "F",
        "d_mu0": r"\partial_s\mu_{0}",
        "d_mu1": r"\partial_s\mu_{1}",
        "d_mu2sq": r"\partial_s\mu_{\star}^{2}",
        "mu_2": r"\mu_{\star}",
        "I_perp": r"I_{\perp}",
        "Vhat_1": r"\hat{V}^{(1)}",
        "P^-1": r"P^{-1}",
        "y_rest": r"y_{\star}",
        "ubar": r"\bar{u}",
        "beta_T": r"\beta_{T}",
        "h_perp": r"h_{\perp}",
        "m_hat": r"\hat{m}",
        "xi_b": r"\xi",
        "ell": r"\ell",
        "<t h_perp>": r"\langle t\,h_{\perp,b}\rangle",
        "<h h>": r"\langle h_{\perp,b}^{r}h_{\perp,c}^{s}\rangle",
        "<xi xi>": r"\langle\xi_{b}^{r}\xi_{c}^{s}\rangle",
        "<f^r f^s>": r"\langle f_{\perp}^{r}f_{\perp}^{s}\rangle",
        "C^rs": r"C^{r s}",
        "X^rs": r"(X_{0},X_{1},j)",
        "Q^rs": r"(Q^{r r},Q^{r s})",
        "Qhat^rs": r"(\hat{Q}^{r r},\hat{Q}^{r s})",
        "sum_rs Qhat^rs Q^rs": r"\textstyle\sum_{rs}\hat{Q}^{r s}Q^{r s}",
        "pair": r"\hat{q}V-\hat{V}Q",
        "a W W^T a/p": r"a_{b}^{T}W_{b}W_{c}^{T}a_{c}/p",
        "log G": r"\log G",
        "log G_0": r"\partial_{n}\log G",
        "omega^r": r"\omega^{r}",
        "E^n": r"\langle I^{n}\rangle",
        "log E": r"\partial_{n}\langle I^{n}\rangle",
        "u W_b^T A^-1 W_c u'": r"u\cdot W_{b}^{T}A^{-1}W_{c}u'",
        "law": r"\varrho^{uu'}",
        "law_uu'": r"u\cdot u'",
        "M_x": r"M_{b c x}",
        "1_b A^-1 1_b": r"1_{b}\cdot A^{-1}1_{b}",
        "dPhi": r"\partial\Phi",
        "dE_dT": r"\textstyle\sum_{e}\tau_{e}\,\partial_{T_{b}}E_{e}",
        "Z_n": r"Z_{n}",
        "eta_tilde": r"\tilde{\eta}",
        "w_after": r"w_{l j}^{\prime}",
        "L_0": r"\mathcal{L}_{0}",
        "q_equal": r"q_{=}",
        "q_different": r"q_{\ne}",
        "q_square": r"q_{2}",
        "sigma_linear": r"\sigma^{\prime}_{1}",
        "fbar": r"\bar{f}",
        "mu_ff": r"\mathbb{E}f^{2}",
        "mu_1_paper": r"\mu_{1}^{\mathrm{paper}}",
        "sigma_2": r"\mathbb{E}\sigma^{\prime\prime}",
        "v_sigma": r"\operatorname{Var}\sigma^{\prime}",
        "sigma_star": r"\sigma_{\star}",
        "sigma'(z)": r"\sigma^{\prime}(z)",
        "sigma'": r"\sigma^{\prime}",
        "chi_before": r"\chi_{\mathrm{before}}",
        "chi_quadratic": r"\chi_{\mathrm{quad}}",
        "chi_pairs": r"\chi_{\mathrm{pairs}}",
        "chi_rest": r"\chi_{\mathrm{rest}}",
        "psi_rest": r"\psi_{\mathrm{rest}}",
        "q_bulk": r"q_{\mathrm{bulk}}",
        "rest": r"\varphi_{\mathrm{rest}}",
        "radial": r"\iota",
        "drift": r"\bar{s}",
        "spread": r"\bar{v}",
        "across": r"\Gamma^{\perp}",
        "root": "R",
        "random": r"\zeta",
        "direction": "v",
        "other_random": r"\zeta^{\prime}",
        "other_along": r"k^{\prime}",
        "other_direction": r"v^{\prime}",
        "eigenvalue": r"\lambda_{\Sigma}",
        "theta_perp": r"\theta_{\perp}",
        "law_theta": r"\varrho^{\theta}",
        "S_f1": r"S_{f,1}",
        "S_f2": r"S_{f,2}",
        "S_g1": r"S_{g,1}",
        "S_g2": r"S_{g,2}",
    }
)

# symbols of a variance, written as the square of a standard deviation
VARIANCES = frozenset({"noise", "probit"})

# families and functions of kappa that are numbered by the directions of target and spike: psi_1, psi_2, ...
_ADJOINT = "adjoint_"
_MATRIX = "matrix_"  # of an inverse
_SLOPE = "dE_d"  # of all equations on their adjoints
_NUMBERED = re.compile(
    r"(psi|psi_hat|zeta|zeta_hat|kappa|loading|slope|nu1|label_nu1|law_vo|law_oo|mix)_(\d+(?:_\d+)?)"
)
_COORDINATE = re.compile(r"kappa_\d+")
_FACTOR = re.compile(r"t_\d+|xx|[tFMghlx]")
_AVERAGE = re.compile(rf"avg_((?:{_FACTOR.pattern})+)")  # a name with another letter keeps SymPy's spelling
_FACTORS: Mapping[str, str] = MappingProxyType({"M": "M_{V}", "l": r"\ell", "xx": r"\left(x^{2}-\Delta^{-1}\right)"})


def latex_name(name: str) -> str | None:
    """LaTeX of a symbol, a family or a function of kappa; None where SymPy's spelling stands."""
    if name in LATEX:
        return LATEX[name]
    if name.startswith(_ADJOINT):
        of = name.removeprefix(_ADJOINT)
        return rf"\tau^{{({latex_name(of) or of})}}"
    if name.startswith(_MATRIX):
        of = name.removeprefix(_MATRIX)
        return rf"{latex_name(of) or of}^{{-1}}"
    if name.startswith(_SLOPE):
        of = name.removeprefix(_SLOPE)
        return rf"\textstyle\sum_{{e}}\tau_{{e}}\,\partial_{{{latex_name(of) or of}}}E_{{e}}"
    numbered = _NUMBERED.fullmatch(name)
    if numbered:
        return subscripted(LATEX[numbered[1]], numbered[2].split("_"))
    average = _AVERAGE.fullmatch(name)
    return rf"\langle {_product(_FACTOR.findall(average[1]))}\rangle_{{\kappa}}" if average else None


def is_bare(name: str) -> bool:
    """Whether a function of kappa is written without its argument: its coordinates, and averages over the output."""
    return _AVERAGE.fullmatch(name) is not None or _COORDINATE.fullmatch(name) is not None


def subscripted(name: str, indices: Sequence[str]) -> str:
    r"""`Q^{(1)}` becomes `Q^{(1)}_{b c}`, and `\mu_{0}` becomes `\mu_{0,b}`."""
    if not indices:
        return name
    before, found, after = name.partition("_{")
    if found:
        return before + "_{" + after.replace("}", "," + " ".join(indices) + "}", 1)
    return f"{name}_{{{' '.join(indices)}}}"


def _product(factors: Sequence[str]) -> str:
    """`tghh` as `t g h^{2}`."""
    counted = {factor: factors.count(factor) for factor in factors}
    return " ".join(_power(factor, count) for factor, count in counted.items())


def _power(factor: str, count: int) -> str:
    base = _FACTORS.get(factor) or (f"t_{{{factor[2:]}}}" if factor.startswith("t_") else factor)
    return base if count == 1 else f"{base}^{{{count}}}"

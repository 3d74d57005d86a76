"""The symbols of the theory in one place (THEORY sections 3 and 4; LaTeX names in derive.language.names)."""

from __future__ import annotations

import sympy as sp

from derive.blocks import block_field, family

ALPHA = sp.Symbol("alpha", positive=True)
BETA = sp.Symbol("beta", positive=True)
RIDGE = sp.Symbol("ridge", positive=True)
NOISE = sp.Symbol("noise", nonnegative=True)
INVERSE_DIMENSION = sp.Symbol("inverse_dimension", nonnegative=True)

# families over readout blocks: order parameters, their conjugates, and what the spectrum needs
FRACTION = family("fraction")
M_ = family("m")
ZETA, ZETA_HAT = family("zeta"), family("zeta_hat")
PSI, PSI_HAT = family("psi"), family("psi_hat")
NORM, NORM_HAT = family("norm"), family("norm_hat")
CHI = family("chi")
EXCESS, RANDOM_FIELD, PULL = map(family, ("excess", "random_field", "pull"))  # of a stand-in for a penalty
RANDOM_FIELD_12 = family("random_field_12")  # covariance of those of two fits
Q1, Q2, Q1_HAT, Q2_HAT = family("Q1"), family("Q2"), family("Q1_hat"), family("Q2_hat")
V1, V2, V1_HAT, V2_HAT = family("V1"), family("V2"), family("V1_hat"), family("V2_hat")
T, M, P, S, ADJOINT = family("T"), family("M"), family("P"), family("S"), family("adjoint")

# functions of kappa: coefficients of the features (per block), of the target, and conditional moments of the output
MU0, MU1, MU2SQ = block_field("mu0"), block_field("mu1"), block_field("mu2sq")
MU_C = block_field("mu_c")  # what mu0 changes by with the norm of a row, c dmu0/dc
NU0, NU1, NU2SQ = block_field("nu0"), block_field("nu1"), block_field("nu2sq")
LABEL_NU0, LABEL_NU2SQ = block_field("label_nu0"), block_field("label_nu2sq")  # of a label that is drawn
MEAN, SLOPE, DELTA, V = block_field("mean"), block_field("slope"), block_field("Delta"), block_field("V")
RISK, CLEAN_RISK = block_field("risk"), block_field("clean_risk")

# in the first two indices
SYMMETRIC = frozenset({"Q1", "Q1_hat", "V1", "V1_hat", "M", "S", "Mx", "Sx", "law_nn", "Q1_12", "Q1_hat_12"})

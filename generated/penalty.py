"""Readouts under a separable penalty, and what stands for it  [THEORY section 15].

V, Delta: width of the proximal map and variance of its argument; avg_*: averages of the Moreau envelope M of the
penalty, of g, minus its slope, and h, its curvature, with x = xi/sqrt(Delta); excess, random_field: a ridge and a field
that give the same response T and norm Q2 of a block.

Generated; do not edit. Signature ffb0bbc716c53dbe, runtime d4be0987a88c9eb1.
Regenerate with: giantstep generate
"""

# fmt: off

SIGNATURE = "ffb0bbc716c53dbe9a18707e94a19fc524a67b253ada9fcf735b1f307eeb2b85"


def readouts(beta, fraction, V, Delta, avg_h, avg_gg):
    """Response T and norm Q2 of the readouts of a block."""
    T = -V*beta*fraction*(V*avg_h - 1.0)
    Q2 = -fraction*(2.0*Delta*V*avg_h - Delta - V*V*avg_gg)
    return T, Q2


def stand_in(V, Delta, avg_h, avg_gg):
    """The ridge and the variance of the field that stand for the penalty."""
    x0 = V*avg_h - 1.0
    excess = -avg_h/x0
    random_field = -(Delta*avg_h*avg_h - avg_gg)/(x0*x0)
    return excess, random_field


def slopes(beta, fraction, V, Delta, avg_M, avg_h, avg_gg, avg_ggh, avg_ghx, avg_hxx):
    """Derivatives of T, Q2, excess, random_field and energy, of each that in V and that in Delta."""
    x0 = V*avg_h
    x1 = V*V
    x2 = avg_ghx*x1
    x3 = 2.0*x0 + x2 - 1.0
    x4 = beta*fraction
    x5 = 0.5*avg_hxx
    x6 = Delta*avg_h
    x7 = V*avg_gg
    x8 = Delta*avg_ghx
    x9 = avg_ggh*x1
    x10 = Delta*avg_hxx
    x11 = avg_h*avg_h
    x12 = avg_ghx + x11
    x13 = x0 - 1.0
    x14 = 1.0/(x13*x13)
    x15 = 1.0/x13**3
    x16 = avg_h**3
    x17 = 2.0*V
    x18 = 2.0*avg_h
    x19 = avg_gg*x1
    x20 = x14*x4
    T_V = -x3*x4
    T_Delta = -x1*x4*x5
    Q2_V = -2.0*fraction*(V*x8 + x6 - x7 + x9)
    Q2_Delta = -fraction*(V*x10 + x3)
    excess_V = x12*x14
    excess_Delta = x14*x5
    random_field_V = 2.0*x15*(Delta*x16 - avg_gg*avg_h - avg_ggh*x0 + avg_ggh + avg_ghx*x6 - avg_ghx*x7)
    random_field_Delta = x15*(-V*x16 - avg_ghx*x0 + avg_hxx*x6 - avg_hxx*x7 + x12)
    energy_V = -0.5*x20*(Delta*x11 - avg_gg*x2 + avg_ggh*x17 + x11*x19 - x18*x7 - x18*x9 + x8)
    energy_Delta = -0.25*x20*(avg_ghx*x17 - avg_hxx*x19 - 2.0*x1*x16 + x10 + x11*x17 - x18*x2)
    return (
        T_V, T_Delta, Q2_V, Q2_Delta, excess_V, excess_Delta, random_field_V, random_field_Delta, energy_V, energy_Delta
    )


def energy(beta, fraction, V, Delta, avg_M, avg_h, avg_gg):
    """What the free energy is beside that with the stand-in, of each block."""
    x0 = V*avg_h
    energy = beta*fraction*(0.5*Delta*avg_h - 0.5*V*avg_gg + avg_M*x0 - avg_M)/(x0 - 1.0)
    return energy


def penalty(V, avg_M, avg_gg):
    """The mean penalty of a readout."""
    penalty = -0.5*V*avg_gg + avg_M
    return penalty

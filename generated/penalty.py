"""Readouts under a separable penalty, and what stands for it  [THEORY section 16].

V, Delta, mean: width of the proximal map, variance and mean of its argument; avg_*: averages of the Moreau envelope M
of the penalty, of g, minus its slope, and h, its curvature, with x = xi/sqrt(Delta); excess, random_field, pull:
a ridge and fields that give the same response T, norm Q2 and overlap m of a block. Of two fits: Delta_12, the
covariance of the arguments, product and moves, the mean squares of readout and move of ``in_common``.

Generated; do not edit. Signature 501cfdb70c1fb6df, runtime 155b7d20db88aca0.
Regenerate with: giantstep generate
"""

# fmt: off
import math

SIGNATURE = "501cfdb70c1fb6df2286d605d86f76bf87d304f2e366a534ed31bdb5950641b3"


def readouts(beta, fraction, V, Delta, mean, avg_g, avg_h, avg_gg):
    """Response T, norm Q2 and mean of the readouts of a block."""
    x0 = V*avg_g
    T = -V*beta*fraction*(V*avg_h - 1.0)
    Q2 = -fraction*(2.0*Delta*V*avg_h - Delta - V*V*avg_gg - mean*mean - 2.0*mean*x0)
    readout = mean + x0
    return T, Q2, readout


def overlap(beta, fraction, inverse_dimension, readout):
    """m by the mean of the readouts; of finite dimension."""
    m = math.sqrt(beta)*fraction*readout/math.sqrt(inverse_dimension)
    return m


def stand_in(beta, inverse_dimension, V, Delta, mean, avg_g, avg_h, avg_gg):
    """The ridge, the variance of the field and the common field that stand for the penalty."""
    x0 = V*avg_h - 1.0
    x1 = 1.0/x0
    excess = -avg_h*x1
    random_field = -(Delta*avg_h*avg_h + avg_g*avg_g - avg_gg)/(x0*x0)
    pull = math.sqrt(beta)*math.sqrt(inverse_dimension)*x1*(avg_g + avg_h*mean)
    return excess, random_field, pull


def slopes(beta, fraction, inverse_dimension, V, Delta, mean,
    avg_M, avg_g, avg_h, avg_gg, avg_gh, avg_hx, avg_ggh, avg_ghx, avg_hxx):
    """Derivatives of T, Q2, readout, excess, random_field, pull and energy, of each in V, Delta and mean."""
    x0 = V*avg_h
    x1 = 2.0*x0
    x2 = V*V
    x3 = avg_ghx*x2
    x4 = x1 + x3 - 1.0
    x5 = beta*fraction
    x6 = 0.5*avg_hxx
    x7 = x2*x5
    x8 = Delta*avg_h
    x9 = V*avg_gg
    x10 = avg_g*mean
    x11 = V*avg_gh
    x12 = mean*x11
    x13 = avg_ggh*x2
    x14 = 2.0*fraction
    x15 = V*avg_hx
    x16 = V*avg_g
    x17 = avg_gh*x2
    x18 = x0 - 1.0
    x19 = avg_h*avg_h
    x20 = avg_ghx + x19
    x21 = 1.0/(x18*x18)
    x22 = avg_hx*x21
    x23 = avg_h**3
    x24 = avg_g*avg_g
    x25 = avg_h*x16
    x26 = V*x24
    x27 = 1.0/x18**3
    x28 = 2.0*x27
    x29 = avg_g*avg_h
    x30 = avg_h*x11
    x31 = math.sqrt(beta)*math.sqrt(inverse_dimension)
    x32 = x21*x31
    x33 = mean*mean
    x34 = 2.0*avg_h
    x35 = 2.0*V
    x36 = x21*x5
    x37 = 0.5*x36
    x38 = avg_gg*x2
    T_V = -x4*x5
    T_Delta = -x6*x7
    T_mean = -avg_hx*x7
    Q2_V = -x14*(Delta*V*avg_ghx - x10 + x12 + x13 + x8 - x9)
    Q2_Delta = -fraction*(Delta*V*avg_hxx + mean*x15 + x4)
    Q2_mean = -x14*(Delta*V*avg_hx + mean*x0 - mean - x16 + x17)
    readout_V = avg_g - x11
    readout_Delta = -0.5*x15
    readout_mean = -x18
    excess_V = x20*x21
    excess_Delta = x21*x6
    excess_mean = x22
    random_field_V = (
        x28*(Delta*x23 - avg_g*avg_gh - avg_gg*avg_h - avg_ggh*x0 + avg_ggh + avg_gh*x25 + avg_ghx*x26 + avg_ghx*x8 -
        avg_ghx*x9 + avg_h*x24)
    )
    random_field_Delta = (
        x27*(-V*x23 - avg_g*avg_hx - avg_ghx*x0 + avg_hx*x25 + avg_hxx*x26 + avg_hxx*x8 - avg_hxx*x9 + x20)
    )
    random_field_mean = x28*(avg_gh + avg_hx*x8 - avg_hx*x9 + x15*x24 + x16*x19 - x29 - x30)
    pull_V = -x32*(-avg_gh + avg_ghx*mean + avg_ghx*x16 + mean*x19 + x29 + x30)
    pull_Delta = -0.5*x32*(avg_hx*x0 - avg_hx + avg_hxx*mean + avg_hxx*x16)
    pull_mean = -x22*x31*(mean + x16)
    energy_V = (
        -x37*(Delta*avg_ghx + Delta*x19 + 2.0*V*avg_ggh + avg_gg*x19*x2 - avg_gg*x3 + 2.0*avg_gh*mean - avg_ghx*x10*x35
        - avg_ghx*x33 - x10*x34 - x12*x34 - x13*x34 - x19*x33 - x34*x9)
    )
    energy_Delta = (
        -0.25*x36*(Delta*avg_hxx + 2.0*V*avg_ghx + 2.0*V*x19 - avg_hx*mean*x1 + 2.0*avg_hx*mean - avg_hxx*x10*x35 -
        avg_hxx*x33 - avg_hxx*x38 - 2.0*x2*x23 - x3*x34)
    )
    energy_mean = (
        -x37*(Delta*avg_hx + 2.0*V*avg_gh + 2.0*avg_g*x19*x2 - avg_hx*x33 - avg_hx*x38 - 2.0*x10*x15 - x17*x34 -
        2.0*x25)
    )
    return (
        T_V, T_Delta, T_mean, Q2_V, Q2_Delta, Q2_mean, readout_V, readout_Delta, readout_mean, excess_V, excess_Delta,
        excess_mean, random_field_V, random_field_Delta, random_field_mean, pull_V, pull_Delta, pull_mean, energy_V,
        energy_Delta, energy_mean
    )


def energy(beta, fraction, V, Delta, mean, avg_M, avg_g, avg_h, avg_gg):
    """What the free energy is beside that with the stand-in, of each block."""
    energy = (
        0.5*beta*fraction*(Delta*avg_h + 2.0*V*avg_M*avg_h - V*avg_gg - 2.0*avg_M - 2.0*avg_g*mean -
        avg_h*mean*mean)/(V*avg_h - 1.0)
    )
    return energy


def in_common(V, mean, avg_g, avg_h):
    """A readout given what two fits have in common, and how much it moves with its argument."""
    readout = V*avg_g + mean
    move = -V*avg_h + 1.0
    return readout, move


def of_two(beta, fraction, V, T, readout, Delta_12, product, moves):
    """T_12 and the covariance of the stand-ins' fields of two fits, and their derivatives in Delta_12."""
    x0 = beta*fraction
    x1 = 1.0/(V*V)
    x2 = 1.0/(T*T)
    x3 = beta*beta
    x4 = fraction*fraction
    T_12 = product*x0
    random_field_12 = -Delta_12*x1 + product*x2*x3*x4 - readout*readout*x2*x3*x4
    T_12_slope = moves*x0
    field_slope = moves*x2*x3*x4 - x1
    return T_12, random_field_12, T_12_slope, field_slope


def penalty(V, avg_M, avg_gg):
    """The mean penalty of a readout."""
    penalty = -0.5*V*avg_gg + avg_M
    return penalty

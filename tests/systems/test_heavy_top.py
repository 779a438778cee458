"""The heavy top in its four forms."""

import warnings

import numpy as np
import pytest

import lielab
from lielab.systems import HeavyTop

FORMS = ("right", "left", "se3dual", "quadratic")


def run(**options):
    tops = {form: HeavyTop(form, **options) for form in FORMS}
    sols = {
        form: lielab.solve(top, (0, 1), method="RKMK54", h=1e-4, save_every=1000)
        for form, top in tops.items()
    }
    return tops, sols


def test_the_four_forms_agree_along_the_flow():
    tops, sols = run()
    gamma, Pi = tops["right"].body(sols["right"].y)
    assert len(gamma) == 11
    for form in FORMS:
        other_gamma, other_Pi = tops[form].body(sols[form].y)
        np.testing.assert_allclose(other_gamma, gamma, rtol=0, atol=1e-10, err_msg=form)
        np.testing.assert_allclose(other_Pi, Pi, rtol=0, atol=1e-10, err_msg=form)
    np.testing.assert_allclose(sols["left"].Q, sols["right"].Q, rtol=0, atol=1e-10)
    np.testing.assert_array_equal(sols["quadratic"].p, np.broadcast_to([0, -30, 0], (11, 3)))
    # q' = p - Q^T Gamma0, integrated by the trapezoidal rule with its end correction left out: a coarse check
    fine = lielab.solve(tops["quadratic"], (0, 0.01), h=1e-4)
    rate = np.array([0, -30, 0]) - tops["quadratic"].body(fine.y)[0]
    np.testing.assert_allclose(fine.q[-1], 1e-4 * (rate[:-1] + rate[1:]).sum(0) / 2, atol=1e-4)


def test_where_the_axis_points_at_one_second():
    """celledoni as printed: gravity pulls up; with Gamma0 turned only the sense of the precession changes."""
    up = lielab.solve(HeavyTop(), (0, 1), h=1e-4, save_every=10**5)
    np.testing.assert_allclose(up.Q[-1] @ [0, 1, 0], [-0.8637, -0.5039, -0.0014], atol=5e-5)
    down = lielab.solve(HeavyTop(Gamma0=(0, 0, 9.81)), (0, 1), h=1e-4, save_every=10**5)
    x, y = down.Q[-1, :2, 1]
    assert abs(x + 0.8637) > 0.01 or abs(y + 0.5039) > 0.01


def test_invariants():
    top = HeavyTop()
    sol = lielab.solve(top, (0, 1), h=1e-4, save_every=1000)
    named = sol.invariants()
    assert named["vertical momentum"][0] == pytest.approx(1.0817296875, rel=1e-14)
    assert named["Pi . chi"][0] == 70.3125
    for values in named.values():
        np.testing.assert_allclose(
            values, np.broadcast_to(values[0], values.shape), rtol=0, atol=1e-9
        )
    assert "Pi . chi" not in HeavyTop(inertia=(0.2, 0.4, 0.3), M=0.01).invariants


def test_quadratic_energy_is_the_mechanical_one():
    top = HeavyTop("quadratic")
    assert top.energy(top.y0) == HeavyTop("right").energy(HeavyTop("right").y0)


def test_benchmark_is_the_original_problem():
    """J about the centre of mass, l = 1: about the pivot 15.234375, and 4.61538 = 150 J_2 / (J_1 + M l^2)."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        top = HeavyTop.benchmark("left")
        HeavyTop()
    np.testing.assert_allclose(top.inertia, (15.234375, 0.46875, 15.234375))
    assert 150 * top.inertia[1] / top.inertia[0] == pytest.approx(4.61538, abs=5e-6)
    # gravity pulls down: at rest and tilted, the centre of mass falls
    y = top.y0
    y[9:] = 0.0
    y[:9] = lielab.so3.exp([0.5, 0.0, 0.0]).ravel()
    sol = lielab.solve(top, (0, 0.1), y, h=0.001)
    height = (sol.Q @ np.array(top.chi))[:, 2]
    assert height[-1] < height[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"formulation": "upside"}, "formulation must be one of 'right'"),
        ({"M": 0}, "M must be a positive number, got 0"),
        ({"l": -1}, "l must be"),
        ({"chi": (0, 2, 0)}, "unit vector"),
        ({"Gamma0": (0, 1)}, "Gamma0 must be 3"),
        ({"inertia": (1, 1)}, "three principal moments"),
        ({"inertia": (1, 1, -1)}, r"inertia\[2\] must be a positive number, got -1"),
    ],
)
def test_wrong_physics_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        HeavyTop(**options)


def test_impossible_inertia_warns():
    with pytest.warns(RuntimeWarning, match="larger than the sum"):
        HeavyTop(inertia=(1, 1, 5), M=0.01)
    with pytest.warns(RuntimeWarning, match="about the centre of mass"):
        HeavyTop(l=1.9)

"""Solutions as tables of pandas and xarray; both are asked for only here."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import lielab
from lielab.systems import (
    FreeRigidBody,
    HeavyTop,
    ParticleOnHyperbolicPlane,
    QuadrotorWithLoad,
    SphericalPendulum,
)
from tests.systems.data import EXAMPLES

BODY = lielab.solve(FreeRigidBody(attitude=True), (0, 1), method="RKMK4", h=0.1)


def test_a_data_frame():
    import pandas

    frame = BODY.to_dataframe()
    assert isinstance(frame, pandas.DataFrame)
    assert frame.shape == (11, 12)
    assert frame.index.name == "t"
    np.testing.assert_array_equal(frame.index, BODY.t)
    assert list(frame.columns[[0, 5, 8, 9, 11]]) == ["R[0,0]", "R[1,2]", "R[2,2]", "mu[0]", "mu[2]"]
    np.testing.assert_array_equal(frame["R[0,2]"], BODY.R[:, 0, 2])
    np.testing.assert_array_equal(frame["mu[1]"], BODY.mu[:, 1])
    assert frame.attrs["units"]["mu[1]"] == "kg m^2/s"
    assert frame.attrs["units"]["R[0,0]"] == "1"
    assert frame.attrs["method"] == "RKMK4"
    assert frame.attrs["system"].startswith("FreeRigidBody(")


def test_a_dataset():
    import xarray

    data = BODY.to_xarray()
    assert isinstance(data, xarray.Dataset)
    assert data["R"].dims == ("t", "R_0", "R_1")
    np.testing.assert_array_equal(data["R"], BODY.R)
    np.testing.assert_array_equal(data["mu"].sel(t=0.5), BODY.mu[5])
    assert data["mu"].attrs == {"units": "kg m^2/s"}
    assert data["t"].attrs == {"units": "s"}
    assert data.attrs["method"] == "RKMK4"


def test_multipliers_come_along():
    quadrotor = QuadrotorWithLoad()
    quadrotor = QuadrotorWithLoad(rotors=(quadrotor.hover,) * 4)
    sol = lielab.solve(quadrotor, (0, 0.05), method="LGVI", h=0.01)
    assert sol.to_dataframe()["multipliers[0]"].shape == (6,)
    assert sol.to_xarray()["multipliers"].attrs == {}


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_system_says_the_units_of_its_parts(name):
    system = EXAMPLES[name]
    unknown = {"p", "q"} if name == "top quadratic" else set()
    assert {part for part, _ in system.parts if not system.unit(part)} == unknown


def test_units():
    assert SphericalPendulum().unit("w") == "rad/s"
    assert HeavyTop("se3dual").unit("Gamma") == "m/s^2"
    assert lielab.systems.DoubleSphericalPendulum().unit("w2") == "rad/s"
    assert ParticleOnHyperbolicPlane().unit("v") == "1/s"
    assert QuadrotorWithLoad().unit("p_q") == "kg m/s"
    own = lielab.systems.ActionSystem(lielab.actions.SO3_ON_S2, lambda t, y, p: y, (0, 0, 1.0))
    assert own.unit("point") == ""


@pytest.mark.parametrize(
    ("library", "method"), [("pandas", "to_dataframe"), ("xarray", "to_xarray")]
)
def test_a_missing_library_is_named(library, method, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=f"{method} needs {library}, which is not installed"):
        getattr(BODY, method)()

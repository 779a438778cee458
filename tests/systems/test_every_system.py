"""What every system promises, tested on all of them at a state without symmetry."""

import dataclasses

import numpy as np
import pytest

import lielab
from lielab import systems
from tests.systems.data import EXAMPLES, generic, velocity

every = pytest.mark.parametrize("name", EXAMPLES)


@every
def test_the_field_keeps_the_invariants(name):
    """d/dt of every invariant along the field is zero, whatever the integrator: sixth-order differences along y'."""
    system, h = EXAMPLES[name], 1e-3
    y = generic(system)
    v = velocity(system, y)
    size = 1.0 + np.abs(v).max()
    h = h / size
    assert system.invariants, "each example has at least one"
    for label, function in system.invariants.items():
        values = [np.asarray(function(y + j * h * v)) for j in (-3, -2, -1, 1, 2, 3)]
        rate = np.tensordot([-1, 9, -45, 45, -9, 1], values, 1) / (60 * h)
        scale = (1.0 + np.abs(values[0]).max()) * size
        assert np.abs(rate).max() < 1e-9 * scale, label


@every
def test_the_field_is_tangent(name):
    """The distance from the manifold grows with the second power of a step along y'."""
    system = EXAMPLES[name]
    y = generic(system)
    v = velocity(system, y)
    assert system.defect(y) < 1e-12
    h = 1e-5 / (1.0 + np.abs(v).max())
    assert system.defect(y + h * v) < 1e-9


@every
def test_layout(name):
    system = EXAMPLES[name]
    y = np.stack([generic(system, seed) for seed in range(3)])
    assert y.shape == (3, system.dim)
    assert system.y0.shape == (system.dim,)
    parts = system.unpack(y)
    assert list(parts) == [part for part, _ in system.parts]
    np.testing.assert_array_equal(system.pack(**parts), y)
    np.testing.assert_allclose(
        system.energy(y), [system.energy(row) for row in y], rtol=1e-13, atol=1e-13
    )
    for function in system.invariants.values():
        np.testing.assert_allclose(
            function(y), [function(row) for row in y], rtol=1e-12, atol=1e-13
        )
    np.testing.assert_allclose(system.defect(y), [system.defect(row) for row in y], atol=1e-15)
    solution_fields = {field.name for field in dataclasses.fields(lielab.Solution)}
    assert not solution_fields & {part for part, _ in system.parts}


@every
def test_project_and_check(name):
    system = EXAMPLES[name]
    y = generic(system)
    np.testing.assert_allclose(system.project(y), y, atol=1e-14)
    system.check(y)
    if system.formulations["action"].action.distance is not None:
        with pytest.raises(ValueError, match="project|coincide"):
            system.check(y * 1.01)


@every
def test_frozen_and_comparable(name):
    system = EXAMPLES[name]
    with pytest.raises(dataclasses.FrozenInstanceError):
        system.y0 = 1
    assert isinstance(hash(system), int)
    if not isinstance(system, systems.ParticleOnSphere | systems.RigidBodyInPotential):
        assert dataclasses.replace(system) == system


def fits(method, system):
    """Whether the method runs on the system, by the formulations that the system offers."""
    return method.needs in system.formulations or (
        "spheres" in system.formulations and method.name in ("ELN", "RATTLE")
    )


@every
def test_every_method_that_fits_runs(name):
    """Two small steps of each; the state stays on the manifold and moves the right way. The others are refused."""
    system = EXAMPLES[name]
    y = generic(system)
    v = velocity(system, y)
    h = 1e-3 / (1.0 + np.abs(v).max())
    start = system.y0 if name == "3D pendulum" else y
    v = velocity(system, start)
    families = set()
    for method in lielab.methods().values():
        adaptive = method.family == "classical" and method.embedded
        how = {"rtol": 1e-9, "atol": 1e-9} if adaptive else {"h": h}
        if not fits(method, system):
            with pytest.raises(ValueError, match="needs the formulation"):
                lielab.solve(system, (0, 2 * h), start, method=method, **how)
            continue
        sol = lielab.solve(system, (0, 2 * h), start, method=method, **how)
        assert sol.success, (method.name, sol.message)
        assert np.abs(sol.y[-1] - start - 2 * h * v).max() < 1e-4, method.name
        assert method.family == "classical" or sol.defect().max() < 1e-12, method.name
        families.add(method.family)
    assert len(families) > 3

"""Arguments of the public group functions as readers pass them."""

import numpy as np

from lielab import so3


def test_read_only_and_broadcast_arguments_are_taken():
    x = np.array([[0.1, 0.2, 0.3], [0.4, -0.5, 0.6]])
    x.flags.writeable = False
    expected = np.cross(x, x[0])
    np.testing.assert_allclose(so3.bracket(x, x[0]), expected, rtol=0, atol=1e-16)
    np.testing.assert_allclose(so3.bracket(x, np.broadcast_to(x[0], (2, 3))), expected, atol=1e-16)
    np.testing.assert_array_equal(so3.exp(x)[1], so3.exp(x[1]))

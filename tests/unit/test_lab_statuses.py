# SPDX-License-Identifier: BSD-2-Clause
"""tools/lab ends as every command does: 2 for wrong use, 4 for no such lab or node."""

import pytest
from labkit import lab, plan


@pytest.mark.parametrize(
    "prefix, balancers, backends", [("a/b", 1, 1), ("gwx", 0, 1), ("gwx", 1, 0), ("gwx", 1, 151)]
)
def test_an_argument_that_no_lab_can_have_is_wrong_use(prefix, balancers, backends):
    with pytest.raises(plan.LabError) as raised:
        plan.Plan(prefix, balancers, backends)
    assert raised.value.status == 2


def test_a_lab_that_is_not_up_is_no_such_thing():
    with pytest.raises(plan.LabError) as raised:
        lab.Lab.load("gwneverup")
    assert raised.value.status == 4


def test_a_node_that_is_not_there_is_no_such_thing():
    with pytest.raises(plan.LabError) as raised:
        plan.Plan("gwx", 1, 1).node("b2")
    assert raised.value.status == 4

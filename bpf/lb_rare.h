/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * What is rare, each in a global function of its own (lb_state.h says why and what they return).
 */
#pragma once

#include "lb_fragment.h"
#include "lb_icmp.h"
#include "lb_too_big.h"
#include "lb_unclaimed.h"

# SPDX-License-Identifier: BSD-2-Clause
"""The lab: a client, a router, balancers and backends in network namespaces of their own.

    client eth0 -- eth0 router eth1 --+-- fabric (a bridge in its own namespace)
                                      +-- eth1 lb1, lb2, ...    balancers
                                      +-- eth1 b1, b2, ...      backends, VIPs on lo

plan.py says which nodes there are and where, network.py makes and removes namespaces, config.py writes
the balancers' files, process.py starts and ends programs, lab.py puts them together. tools/lab is the
command, tools/demo and tests/e2e use the class Lab.
"""

# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Times to success: estimates, tests and resamples over whole episodes (PhAIL).

`kaplan_meier` has the estimate, `two_samples` comparisons of two, `macro_ks` the test of two
policies and `logrank` its check, `bootstrap` the intervals of all scalars. Studies of many
resamples use `pool`: `pool_of(cell, cell)` once, then `arm_statistics(pool, first, second, tau)`
for the draws of all trials in one call; `macro_ks.pooled_null` is one null distribution of it, and
`macro_ks.resampled_p` the p-values of many.
"""

# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The fields of the metric messages in the order in which the pipeline yields them (all but header
and episode_id).
"""

QUALITY_FIELDS = (
    'step', 'time',
    'pl', 'ps', 'cc', 'ti',
    'tcp_pi', 'tcp_vi', 'tcp_ai', 'tcp_pi_step', 'tcp_vi_step', 'tcp_ai_step',
    'tcp_pi_mean', 'tcp_vi_mean', 'tcp_ai_mean', 'tcp_speed', 'tcp_acceleration', 'tcp_jerk',
    'a_pi', 'a_vi', 'a_ai', 'a_pi_step', 'a_vi_step', 'a_ai_step',
    'a_pi_mean', 'a_vi_mean', 'a_ai_mean',
    'ot', 'ot_step', 'ot_mean', 'ate', 'rte', 'ate_reference', 'rte_reference',
    'is_grasped',
    'is_static', 'gaps', 'short_segments', 'lagging', 'hold_expired', 'pose_age',
    'low_pass_cutoff',
)  # fmt: skip

SAFETY_FIELDS = (
    'step', 'time',
    'cr', 'cr_per_second', 'cr_per_metre', 'collisions',
    'is_contact_sensed', 'in_contact', 'in_collision',
    'op', 'rf', 'distance',
    'near_zone_time', 'closing_speed', 'time_to_collision', 'moving_distance',
    'peak_force', 'rms_force',
    'force_limit_ratio', 'pressure_limit_ratio', 'limit_exceedances',
)  # fmt: skip

EFFICIENCY_FIELDS = (
    'step', 'time',
    'il', 'il_last', 'il_p50', 'il_p95', 'il_p99', 'il_jitter',
    'il_preprocess', 'il_forward', 'il_postprocess', 'il_transport', 'inferences', 'ct', 'mu',
    'control_rate', 'control_rate_now', 'control_rate_worst',
    'observation_age', 'queue_depth', 'chunk_overlap', 'stalls',
)  # fmt: skip

CONFIDENCE_FIELDS = (
    'sequence', 'time',
    'tb_tp', 'tb_pcs', 'tb_d', 'tb_e', 'ev',
    'tb_tp_step', 'tb_pcs_step', 'tb_d_step', 'tb_e_step', 'ev_step',
    'tb_tp_mean', 'tb_pcs_mean', 'tb_d_mean', 'tb_e_mean', 'ev_mean', 'chunk_overlap',
    'confidence', 'confidence_calibrated', 'confidence_episode', 'ensemble_mean', 'ensemble_spread',
    'token_count', 'sample_count', 'vocabulary_size',
)  # fmt: skip

SUMMARY_FIELDS = (
    'outcome', 'start', 'end', 'duration', 'time_to_success', 'steps', 'is_static',
    'quality', 'safety', 'confidence', 'efficiency', 'unavailable', 'data_quality',
)  # fmt: skip

FIELDS = {
    'quality': QUALITY_FIELDS,
    'safety': SAFETY_FIELDS,
    'efficiency': EFFICIENCY_FIELDS,
    'confidence': CONFIDENCE_FIELDS,
    'summary': SUMMARY_FIELDS,
}

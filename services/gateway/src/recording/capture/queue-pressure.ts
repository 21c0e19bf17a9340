/** Spec: G3.9, G12.5. */
export const PRESSURE_STATES = ['ok', 'elevated', 'high', 'saturated'] as const;
type PressureState = (typeof PRESSURE_STATES)[number];

/** Whole percent of the capacity in use, rounded down. */
export function utilizationPct(depth: number, capacity: number): number {
  return Math.floor((depth * 100) / capacity);
}

export function pressureState(utilization: number): PressureState {
  if (utilization >= 100) return 'saturated';
  if (utilization >= 80) return 'high';
  return utilization >= 50 ? 'elevated' : 'ok';
}

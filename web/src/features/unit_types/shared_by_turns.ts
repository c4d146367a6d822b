/** Whether a unit is leave to take turns on a device with others; facts are the agent's word, and may be anything. */
export function sharesByTurns(unit: { facts: unknown }): boolean {
  const device = (unit.facts as Record<string, unknown>).device
  return typeof device === 'object' && device !== null && (device as Record<string, unknown>).sharing === 'time-slice'
}

/** What the agent says of the device behind a unit type; facts are its word, and may be anything. */
function deviceOf(unit: { facts: unknown }): Record<string, unknown> | null {
  const device = (unit.facts as Record<string, unknown> | null)?.device
  return typeof device === 'object' && device !== null ? (device as Record<string, unknown>) : null
}

/** Whether a unit is leave to take turns on a device with others. */
export function sharesByTurns(unit: { facts: unknown }): boolean {
  return deviceOf(unit)?.sharing === 'time-slice'
}

/**
 * Those of a center's GPUs that a unit type is made of, as routing reckons (server/routing/in_use/gpu_rooms.cpp): an agent that does not say
 * which may mean any of its center.
 */
export function gpusOf<Gpu extends { gpu: string }>(unit: { facts: unknown }, gpus: readonly Gpu[]): readonly Gpu[] {
  const ids = deviceOf(unit)?.ids
  if (ids === undefined) return gpus
  return Array.isArray(ids) ? gpus.filter((one) => ids.includes(one.gpu)) : []
}

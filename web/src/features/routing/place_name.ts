/** Where something runs, as `Place` shows it, for CSV: center/unit type × count of units. */
export function placeName(at: { center: string; unit_type: string; unit_count: number }): string {
  return `${at.center}/${at.unit_type} × ${at.unit_count}`
}

import type { UsageRecord } from '../../queries/usage'
import { secondsBetween } from '../../ui/format'

/** Units × hours × score / 1000, for looking at: what is charged for stands in the ledger. Null where nothing was computed. */
export function scoreHours(record: Pick<UsageRecord, 'kind' | 'unit_count' | 'from' | 'until' | 'score'>): number | null {
  const seconds = secondsBetween(record.from, record.until)
  if (record.kind !== 'compute' || record.score === null || seconds === null) return null
  return (record.unit_count * seconds * record.score) / 3_600_000
}

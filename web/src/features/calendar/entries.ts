import type { Maintenance, Reservation } from '../../queries/calendar'
import type { Span } from './layout'

export type Entry = Span & ({ kind: 'reservation'; of: Reservation } | { kind: 'maintenance'; of: Maintenance })

function end(of: Reservation | Maintenance): number {
  const planned = Date.parse(of.ends_at)
  // What was cancelled while it was active ended there.
  return of.cancelled_at ? Math.max(Date.parse(of.starts_at), Math.min(planned, Date.parse(of.cancelled_at))) : planned
}

/** Both kinds together, by center, each center's in one list. */
export function entriesByCenter(reservations: readonly Reservation[], maintenance: readonly Maintenance[]): [string, Entry[]][] {
  const entries: Entry[] = [
    ...maintenance.map((of): Entry => ({ kind: 'maintenance', of, id: of.id, start: Date.parse(of.starts_at), end: end(of) })),
    ...reservations.map((of): Entry => ({ kind: 'reservation', of, id: of.id, start: Date.parse(of.starts_at), end: end(of) }))]
  const byCenter = new Map<string, Entry[]>()
  for (const entry of entries) byCenter.set(entry.of.center, [...(byCenter.get(entry.of.center) ?? []), entry])
  return [...byCenter].sort(([a], [b]) => a.localeCompare(b))
}

/** Whether there is something left to cancel. */
export function isOpen(of: { state: string }): boolean {
  return of.state === 'planned' || of.state === 'active'
}

/** Whether somebody may cancel it: maintenance is the administrators', a reservation also its maker's. */
export function mayCancel(entry: Pick<Entry, 'kind'> & { of: { state: string; created_by: string } }, who: { isAdmin: boolean; identity: string | undefined }): boolean {
  return isOpen(entry.of) && (who.isAdmin || (entry.kind === 'reservation' && entry.of.created_by === who.identity))
}

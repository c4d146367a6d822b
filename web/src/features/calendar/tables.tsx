import { Button } from '@mantine/core'
import { Link } from '../../app/router/link'
import { pathTo } from '../../app/router/match'
import { useText } from '../../i18n/language'
import type { Maintenance, Reservation } from '../../queries/calendar'
import { type Column, DataTable } from '../../ui/data_table'
import { formatDuration, nothing, secondsBetween } from '../../ui/format'
import { EmptyState } from '../../ui/states'
import { StatePill, type Tone } from '../../ui/state_pill'
import { Time } from '../../ui/zone'
import { type Entry, entriesByCenter, mayCancel } from './entries'
import { useWho } from './who'

const tones: Record<Reservation['state'], Tone> = { planned: 'idle', active: 'busy', ended: 'good', cancelled: 'warn' }

export function CalendarState({ state }: { state: Reservation['state'] }) {
  const t = useText()
  return <StatePill tone={tones[state]}>{t(`calendar.state.${state}`)}</StatePill>
}

/** The columns that both kinds have. */
function useCommon<Row extends Reservation | Maintenance>(): Column<Row>[] {
  const t = useText()
  return [
    { id: 'starts_at', title: t('calendar.starts'), cell: (r) => <Time at={r.starts_at} />, csv: (r) => r.starts_at },
    { id: 'ends_at', title: t('calendar.ends'), cell: (r) => <Time at={r.ends_at} />, csv: (r) => r.ends_at },
    { id: 'length_s', title: t('calendar.length'), isNumber: true, cell: (r) => formatDuration(secondsBetween(r.starts_at, r.ends_at)), csv: (r) => secondsBetween(r.starts_at, r.ends_at) },
    { id: 'state', title: t('calendar.state'), cell: (r) => <CalendarState state={r.state} />, csv: (r) => r.state },
    { id: 'id', title: t('ui.id'), isHidden: true, cell: (r) => <code>{r.id}</code>, csv: (r) => r.id },
    { id: 'created_at', title: t('calendar.created'), isHidden: true, cell: (r) => <Time at={r.created_at} />, csv: (r) => r.created_at },
    { id: 'created_by', title: t('calendar.by'), isHidden: true, cell: (r) => <code>{r.created_by}</code>, csv: (r) => r.created_by },
    { id: 'cancelled_at', title: t('calendar.cancelled'), isHidden: true, cell: (r) => <Time at={r.cancelled_at} />, csv: (r) => r.cancelled_at },
  ]
}

function useCancel<Row extends Reservation | Maintenance>(kind: Entry['kind'], name: (row: Row) => string, onCancel: ((row: Row) => void) | null): Column<Row>[] {
  const t = useText()
  const who = useWho()
  if (!onCancel) return []
  return [{ id: 'cancel', title: t('form.actions'), cell: (row) => (mayCancel({ kind, of: row }, who)
    ? <Button size="compact-xs" aria-label={`${t('calendar.cancel')} ${name(row)}`} onClick={() => onCancel(row)}>{t('calendar.cancel')}</Button> : null) }]
}

function entryOf(reservations: readonly Reservation[], maintenance: readonly Maintenance[]): Entry | undefined {
  return entriesByCenter(reservations, maintenance)[0]?.[1][0]
}

function CenterLink({ name }: { name: string }) {
  return <Link href={pathTo('/centers/:center', { center: name })}>{name}</Link>
}

export function Reservations({ rows, onCancel }: { rows: readonly Reservation[]; onCancel: ((entry: Entry) => void) | null }) {
  const t = useText()
  const cancel = onCancel && ((row: Reservation) => {
    const entry = entryOf([row], [])
    if (entry) onCancel(entry)
  })
  const columns: Column<Reservation>[] = [
    { id: 'project', title: t('calendar.project'), cell: (r) => <Link href={pathTo('/projects/:name', { name: r.project })}>{r.project}</Link>, csv: (r) => r.project },
    { id: 'center', title: t('calendar.center'), cell: (r) => <CenterLink name={r.center} />, csv: (r) => r.center },
    { id: 'unit_type', title: t('calendar.unit'), cell: (r) => <Link href={pathTo('/unit-types/:id', { id: r.unit_type_id })}>{r.unit_type}</Link>, csv: (r) => r.unit_type },
    { id: 'unit_count', title: t('calendar.units'), isNumber: true, cell: (r) => r.unit_count, csv: (r) => r.unit_count },
    ...useCommon<Reservation>(), ...useCancel<Reservation>('reservation', (r) => r.id, cancel),
  ]
  return <DataTable name="reservations" label={t('calendar.reservations')} columns={columns} rows={rows} rowKey={(r) => r.id}
    empty={<EmptyState title={t('calendar.reservations.none')}>{t('calendar.reservations.hint')}</EmptyState>} />
}

export function MaintenanceTable({ rows, onCancel }: { rows: readonly Maintenance[]; onCancel: ((entry: Entry) => void) | null }) {
  const t = useText()
  const cancel = onCancel && ((row: Maintenance) => {
    const entry = entryOf([], [row])
    if (entry) onCancel(entry)
  })
  const columns: Column<Maintenance>[] = [
    { id: 'center', title: t('calendar.center'), cell: (m) => <CenterLink name={m.center} />, csv: (m) => m.center },
    { id: 'unit_type', title: t('calendar.unit'), cell: (m) => m.unit_type ?? t('calendar.unit.all'), csv: (m) => m.unit_type },
    { id: 'reason', title: t('calendar.reason'), cell: (m) => m.reason || nothing, csv: (m) => m.reason },
    ...useCommon<Maintenance>(), ...useCancel<Maintenance>('maintenance', (m) => m.id, cancel),
  ]
  return <DataTable name="maintenance" label={t('calendar.maintenance')} columns={columns} rows={rows} rowKey={(m) => m.id}
    empty={<EmptyState title={t('calendar.maintenance.none')}>{t('calendar.maintenance.hint')}</EmptyState>} />
}

import { Button, Checkbox, NativeSelect } from '@mantine/core'
import { useFilters } from '../../app/router/search'
import { useSession } from '../../app/session'
import { useText } from '../../i18n/language'
import { type SubUnitKind, type SubUnitRequest, useCancelSubUnitRequest, useSubUnitRequests } from '../../queries/sub_units'
import { type Column, DataTable } from '../../ui/data_table'
import { nothing } from '../../ui/format'
import { Section } from '../../ui/page'
import { ServerText } from '../../ui/server_text'
import { StatePill, type Tone } from '../../ui/state_pill'
import { EmptyState, ErrorState, NoneFits, Ready } from '../../ui/states'
import { Time } from '../../ui/zone'

const tones: Record<SubUnitRequest['state'], Tone> = { waiting: 'warn', draining: 'busy', giving: 'busy', done: 'good', refused: 'bad', cancelled: 'idle' }

function useRequestColumns(onCancel: ((id: string) => void) | null): Column<SubUnitRequest>[] {
  const t = useText()
  return [
    { id: 'created_at', title: t('subunits.asked'), cell: (one) => <Time at={one.created_at} />, csv: (one) => one.created_at },
    { id: 'id', title: t('subunits.request.id'), cell: (one) => <code>{one.id}</code>, csv: (one) => one.id, isHidden: true },
    { id: 'kind', title: t('subunits.kind'), cell: (one) => one.kind, csv: (one) => one.kind },
    { id: 'center', title: t('subunits.center'), cell: (one) => one.center, csv: (one) => one.center },
    { id: 'action', title: t('subunits.action'), cell: (one) => t(`subunits.action.${one.action}`), csv: (one) => one.action },
    { id: 'count', title: t('subunits.count'), isNumber: true, cell: (one) => one.count, csv: (one) => one.count },
    { id: 'granted_count', title: t('subunits.granted'), isNumber: true, cell: (one) => one.granted_count, csv: (one) => one.granted_count },
    { id: 'free_count', title: t('subunits.free'), isNumber: true, cell: (one) => one.free_count, csv: (one) => one.free_count },
    { id: 'state', title: t('subunits.state'), csv: (one) => one.state,
      cell: (one) => <StatePill tone={tones[one.state]}>{t(`subunits.state.${one.state}`)}</StatePill> },
    { id: 'reason', title: t('subunits.reason'), cell: (one) => (one.end_reason ? <ServerText>{one.end_reason}</ServerText> : one.reason || nothing), csv: (one) => one.end_reason || one.reason },
    { id: 'asked_by', title: t('subunits.by'), cell: (one) => <code>{one.asked_by}</code>, csv: (one) => one.asked_by, isHidden: true },
    ...(onCancel ? [{ id: 'acts', title: t('subunits.acts'), cell: (one: SubUnitRequest) => (one.state === 'waiting' || one.state === 'draining'
      ? <Button size="compact-xs" aria-label={t('subunits.cancel.one', { id: one.id })} onClick={() => onCancel(one.id)}>{t('subunits.cancel')}</Button> : nothing) }] : []),
  ]
}

export function Requests({ kinds }: { kinds: readonly SubUnitKind[] }) {
  const t = useText()
  const { may } = useSession()
  const [raw, change] = useFilters(['kind', 'open'])
  const query = useSubUnitRequests({ kind: raw.kind, open: raw.open === 'true' })
  const cancel = useCancelSubUnitRequest()
  const columns = useRequestColumns(may('manage_network') ? (id) => cancel.mutate(id) : null)
  const isFiltered = raw.kind !== '' || raw.open === 'true'
  const tools = (
    <>
      <NativeSelect label={t('subunits.kind')} value={raw.kind} onChange={(e) => change({ kind: e.currentTarget.value })}
        data={[{ value: '', label: t('ui.any') }, ...kinds.map((one) => one.kind)]} />
      <Checkbox label={t('subunits.open')} checked={raw.open === 'true'} onChange={(e) => change({ open: e.currentTarget.checked ? 'true' : '' })} />
    </>
  )
  return (
    <Section title={t('subunits.requests')}>
      {cancel.error ? <ErrorState error={cancel.error} /> : null}
      <Ready query={query} tools={tools}>
        <DataTable name="sub-unit-requests" label={t('subunits.requests')} columns={columns} rows={query.items ?? []} rowKey={(one) => one.id} pages={query} tools={tools}
          empty={isFiltered ? <NoneFits onClear={() => change({ kind: '', open: '' })} /> : <EmptyState title={t('subunits.requests.none')} />} />
      </Ready>
    </Section>
  )
}

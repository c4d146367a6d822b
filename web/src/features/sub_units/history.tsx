import { Link } from '../../app/router/link'
import { pathTo } from '../../app/router/match'
import { useText } from '../../i18n/language'
import { type SubUnitEvent, useSubUnitEvents } from '../../queries/sub_units'
import { type Column, DataTable } from '../../ui/data_table'
import { nothing } from '../../ui/format'
import { Section } from '../../ui/page'
import { ServerText } from '../../ui/server_text'
import { StatePill, type Tone } from '../../ui/state_pill'
import { EmptyState, Ready } from '../../ui/states'
import { Time } from '../../ui/zone'

const tones: Record<SubUnitEvent['event'], Tone> = {
  registered: 'idle', asked: 'idle', draining: 'busy', giving: 'busy', released: 'good', granted: 'good', gained: 'good', refused: 'bad',
  cancelled: 'idle', undone: 'warn',
}

/** Every change of sub-units as it was recorded, by whom and why; nothing of it can be changed. */
export function History({ kind }: { kind: string }) {
  const t = useText()
  const query = useSubUnitEvents(kind)
  const columns: Column<SubUnitEvent>[] = [
    { id: 'at', title: t('subunits.at'), cell: (one) => <Time at={one.at} />, csv: (one) => one.at },
    { id: 'kind', title: t('subunits.kind'), cell: (one) => one.kind, csv: (one) => one.kind },
    { id: 'center', title: t('subunits.center'), csv: (one) => one.center,
      cell: (one) => <Link href={pathTo('/centers/:center', { center: one.center })}>{one.center}</Link> },
    { id: 'event', title: t('subunits.event'), csv: (one) => one.event,
      cell: (one) => <StatePill tone={tones[one.event]}>{t(`subunits.event.${one.event}`)}</StatePill> },
    { id: 'count', title: t('subunits.count'), isNumber: true, cell: (one) => one.count, csv: (one) => one.count },
    { id: 'held_count', title: t('subunits.held.after'), isNumber: true, cell: (one) => one.held_count, csv: (one) => one.held_count },
    { id: 'actor', title: t('subunits.actor'), cell: (one) => <code>{one.actor}</code>, csv: (one) => one.actor },
    { id: 'detail', title: t('subunits.reason'), isText: true, cell: (one) => (one.detail ? <ServerText>{one.detail}</ServerText> : nothing), csv: (one) => one.detail },
    { id: 'request_id', title: t('subunits.request.id'), isHidden: true, cell: (one) => (one.request_id ? <code>{one.request_id}</code> : nothing), csv: (one) => one.request_id },
    { id: 'grant_id', title: t('subunits.grant.id'), isHidden: true, cell: (one) => (one.grant_id ? <code>{one.grant_id}</code> : nothing), csv: (one) => one.grant_id },
  ]
  return (
    <Section title={t('subunits.history')}>
      <Ready query={query}>
        <DataTable name="sub-unit-history" label={t('subunits.history')} columns={columns} rows={query.items ?? []} rowKey={(one) => String(one.id)} pages={query}
          empty={<EmptyState title={t('subunits.history.none')} />} />
      </Ready>
    </Section>
  )
}

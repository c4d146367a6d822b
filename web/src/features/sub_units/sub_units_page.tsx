import { Button } from '@mantine/core'
import { useState } from 'react'
import { Link } from '../../app/router/link'
import { pathTo } from '../../app/router/match'
import { useFilters } from '../../app/router/search'
import { useSession } from '../../app/session'
import { useText } from '../../i18n/language'
import { type SubUnitKind, useSubUnitKinds } from '../../queries/sub_units'
import { type Column, DataTable } from '../../ui/data_table'
import { Page, Section } from '../../ui/page'
import { StatePill } from '../../ui/state_pill'
import { EmptyState, Ready } from '../../ui/states'
import { AskDialog } from './ask_dialog'
import { Grants } from './grants'
import { History } from './history'
import { type Holding, holdingsOf, wholeUnits } from './holdings'
import { Requests } from './requests'

function useHoldingColumns(): Column<Holding>[] {
  const t = useText()
  return [
    { id: 'kind', title: t('subunits.kind'), cell: (one) => one.kind, csv: (one) => one.kind },
    { id: 'center', title: t('subunits.center'), csv: (one) => one.center,
      cell: (one) => <Link href={pathTo('/centers/:center', { center: one.center })}>{one.center}</Link> },
    { id: 'unit_type', title: t('subunits.unit'), cell: (one) => one.unit_type, csv: (one) => one.unit_type },
    { id: 'registered_count', title: t('subunits.registered'), isNumber: true, cell: (one) => one.registered_count, csv: (one) => one.registered_count },
    { id: 'held_count', title: t('subunits.held'), isNumber: true, cell: (one) => one.held_count, csv: (one) => one.held_count },
    { id: 'target_count', title: t('subunits.target'), isNumber: true, cell: (one) => one.target_count, csv: (one) => one.target_count },
    { id: 'offered_count', title: t('subunits.offered'), isNumber: true, cell: (one) => one.offered_count, csv: (one) => one.offered_count },
    { id: 'units', title: t('subunits.units'), isNumber: true, cell: (one) => wholeUnits(one), csv: (one) => wholeUnits(one) },
    { id: 'sub_units_per_unit', title: t('subunits.per'), isNumber: true, cell: (one) => one.sub_units_per_unit, csv: (one) => one.sub_units_per_unit, isHidden: true },
    { id: 'most_count', title: t('subunits.most'), isNumber: true, cell: (one) => one.most_count, csv: (one) => one.most_count, isHidden: true },
    { id: 'settled', title: t('subunits.state'), csv: (one) => one.settled,
      cell: (one) => <StatePill tone={one.settled ? 'good' : 'busy'}>{t(one.settled ? 'subunits.settled' : 'subunits.changing')}</StatePill> },
  ]
}

/** Parts of units that go from center to center: who has how many, who asked for more or fewer, and what went where. */
export function SubUnitsPage() {
  const t = useText()
  const { may } = useSession()
  const query = useSubUnitKinds()
  const [raw] = useFilters(['kind'])
  const [isAsking, setAsking] = useState(false)
  const columns = useHoldingColumns()
  const kinds = query.items ?? []
  return (
    <Page title={t('subunits.title')}
      actions={may('manage_network') && kinds.length > 0 ? <Button variant="filled" onClick={() => setAsking(true)}>{t('subunits.ask')}</Button> : null}>
      <Ready query={query}>
        {kinds.length === 0 ? <EmptyState title={t('subunits.none')}>{t('subunits.none.text')}</EmptyState> : (
          <>
            <Section title={t('subunits.holdings')} side={<Free kinds={kinds} />}>
              <DataTable name="sub-units" label={t('subunits.holdings')} columns={columns} rows={holdingsOf(kinds)} rowKey={(one) => `${one.kind} ${one.center_id}`} pages={query} />
            </Section>
            <Requests kinds={kinds} />
            <Grants kind={raw.kind} />
            <History kind={raw.kind} />
          </>
        )}
      </Ready>
      {isAsking ? <AskDialog kinds={kinds} onClose={() => setAsking(false)} /> : null}
    </Page>
  )
}

function Free({ kinds }: { kinds: readonly SubUnitKind[] }) {
  const t = useText()
  return <span className="dim">{kinds.map((one) => t('subunits.free.of', { kind: one.kind, n: one.free_count, all: one.registered_count })).join(' · ')}</span>
}

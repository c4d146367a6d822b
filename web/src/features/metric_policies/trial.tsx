import { Checkbox } from '@mantine/core'
import { useState } from 'react'
import { useLanguage } from '../../i18n/language'
import type { ComparedOperator, ComparedUnitType, PolicyTrial } from '../../queries/metric_policies'
import { type Column, DataTable } from '../../ui/data_table'
import { formatNumber, nothing } from '../../ui/format'
import { Section } from '../../ui/page'
import { formatSize } from '../../ui/rates'
import { ServerText } from '../../ui/server_text'

type Compared = ComparedUnitType | ComparedOperator

/** Whether two policies say the same of something. */
export function isSame(one: Compared): boolean {
  return one.score_before === one.score_after && one.rank_before === one.rank_after
}

function useComparedColumns<Row extends Compared>(): Column<Row>[] {
  const { t, locale } = useLanguage()
  const score = (value: number | null, missing: string | null) => (value !== null ? formatNumber(value, locale, 1) : <span className="dim">{missing ? <ServerText>{missing}</ServerText> : nothing}</span>)
  return [
    { id: 'center', title: t('measure.center'), cell: (c) => c.center, csv: (c) => c.center },
    { id: 'unit_type', title: t('measure.unit_type'), cell: (c) => c.unit_type, csv: (c) => c.unit_type },
    { id: 'score_before', title: `${t('scores.score')}: ${t('policies.before')}`, isNumber: true, cell: (c) => score(c.score_before, c.missing_before), csv: (c) => c.score_before },
    { id: 'score_after', title: `${t('scores.score')}: ${t('policies.after')}`, isNumber: true, cell: (c) => score(c.score_after, c.missing_after), csv: (c) => c.score_after },
    { id: 'rank_before', title: `${t('policies.rank')}: ${t('policies.before')}`, isNumber: true, cell: (c) => c.rank_before ?? nothing, csv: (c) => c.rank_before },
    { id: 'rank_after', title: `${t('policies.rank')}: ${t('policies.after')}`, isNumber: true, cell: (c) => c.rank_after ?? nothing, csv: (c) => c.rank_after },
  ]
}

export function ComparedUnitTypes({ items }: { items: readonly ComparedUnitType[] }) {
  const { t } = useLanguage()
  const columns = useComparedColumns<ComparedUnitType>()
  return <DataTable name="compared-unit-types" label={t('policies.units')} columns={columns} rows={items} rowKey={(c) => c.unit_type_id}
    empty={<p className="dim">{t('policies.try.nothing')}</p>} />
}

/** The same measurements under a policy and under the active one. Nothing is stored. */
export function Trial({ trial }: { trial: PolicyTrial }) {
  const { t } = useLanguage()
  const [isChangedOnly, setChangedOnly] = useState(true)
  const columns = useComparedColumns<ComparedOperator>()
  const operators = trial.operators.filter((one) => !isChangedOnly || !isSame(one))
  return (
    <Section title={t('policies.try.title', { policy: trial.policy, active: trial.active_policy })}>
      {trial.unit_type_count > trial.unit_types.length
        ? <p className="dim">{t('policies.try.some', { n: trial.unit_types.length, all: trial.unit_type_count })}</p> : null}
      <ComparedUnitTypes items={trial.unit_types} />
      <h3 style={{ fontSize: 12, margin: '12px 0 4px' }}>{t('policies.operators')}</h3>
      <DataTable name="compared-operators" label={t('policies.operators')} rows={operators}
        rowKey={(c) => `${c.unit_type_id} ${c.operator} ${formatSize(c.parameters)}`}
        tools={<Checkbox label={t('policies.changed')} checked={isChangedOnly} onChange={(e) => setChangedOnly(e.currentTarget.checked)} />}
        empty={<p className="dim">{t('ui.none')}</p>} columns={[
          { id: 'operator', title: t('measure.operator'), cell: (c) => c.operator, csv: (c) => c.operator },
          { id: 'size', title: t('measure.size'), cell: (c) => <code>{formatSize(c.parameters)}</code>, csv: (c) => formatSize(c.parameters) },
          ...columns,
        ]} />
    </Section>
  )
}

import { Button, NativeSelect } from '@mantine/core'
import { useState } from 'react'
import { Link } from '../../../app/router/link'
import { pathTo } from '../../../app/router/match'
import { useFilters } from '../../../app/router/search'
import { useSession } from '../../../app/session'
import { useText } from '../../../i18n/language'
import { type Diversity, useDiversity } from '../../../queries/operator_library'
import { type Operator, useOperators } from '../../../queries/operators'
import { type Column, DataTable } from '../../../ui/data_table'
import { nothing } from '../../../ui/format'
import { TextFilter } from '../../../ui/forms/text_filter'
import { Page } from '../../../ui/page'
import { StatePill } from '../../../ui/state_pill'
import { EmptyState, Ready } from '../../../ui/states'
import { Time } from '../../../ui/zone'
import { filterOperators, operatorFilterNames, parseOperatorFilters } from './filters'
import { OperatorReviews } from '../reviews/operator_reviews'
import { UploadPackage } from '../upload_package'

function useOperatorColumns(diversity: ReadonlyMap<string, Diversity>): Column<Operator>[] {
  const t = useText()
  return [
    { id: 'id', title: t('operators.id'), cell: (o) => <Link href={pathTo('/operators/:id', { id: o.id })}>{o.id}</Link>, csv: (o) => o.id },
    { id: 'category', title: t('measure.category'), cell: (o) => o.category, csv: (o) => o.category },
    { id: 'description', title: t('operators.what'), cell: (o) => <span title={o.description}>{o.description.split(/[.:;] /)[0]}</span>, csv: (o) => o.description },
    { id: 'state', title: t('measure.state'), csv: (o) => (o.withdrawn_at ? 'withdrawn' : 'used'), cell: (o) => (o.withdrawn_at
      ? <StatePill tone="warn">{t('operators.state.withdrawn')}</StatePill> : <StatePill tone="good">{t('operators.state.used')}</StatePill>) },
    { id: 'version', title: t('measure.version'), isNumber: true, cell: (o) => o.version, csv: (o) => o.version },
    { id: 'unit_types', title: t('operators.served'), isNumber: true, cell: (o) => diversity.get(o.id)?.unit_type_count ?? nothing,
      csv: (o) => diversity.get(o.id)?.unit_type_count },
    { id: 'centers', title: t('operators.served.centers'), isNumber: true, cell: (o) => diversity.get(o.id)?.center_count ?? nothing,
      csv: (o) => diversity.get(o.id)?.center_count },
    { id: 'resource_types', title: t('operators.resources'), cell: (o) => o.implementations.map((i) => i.resource_type).join(', '),
      csv: (o) => o.implementations.map((i) => i.resource_type).join(' ') },
    { id: 'precision', title: t('measure.precision'), cell: (o) => o.precision, csv: (o) => o.precision, isHidden: true },
    { id: 'origin', title: t('operators.origin'), cell: (o) => t(`operators.origin.${o.origin}`), csv: (o) => o.origin, isHidden: true },
    { id: 'created_at', title: t('measure.created'), cell: (o) => <Time at={o.created_at} />, csv: (o) => o.created_at, isHidden: true },
    { id: 'created_by', title: t('measure.by'), cell: (o) => <code>{o.created_by}</code>, csv: (o) => o.created_by, isHidden: true },
  ]
}

export function OperatorsPage() {
  const t = useText()
  const { may } = useSession()
  const [raw, change] = useFilters(operatorFilterNames)
  const [isUploading, setUploading] = useState(false)
  const query = useOperators()
  const diversity = useDiversity()
  const columns = useOperatorColumns(new Map((diversity.data ?? []).map((one) => [one.operator_id, one])))
  const all = query.data ?? []
  const filters = parseOperatorFilters(raw)
  const categories = [...new Set(all.map((operator) => operator.category))].sort()
  return (
    <Page title={t('operators.title')} actions={may('manage_metering')
      ? <Button onClick={() => setUploading(true)}>{t('operators.upload')}</Button> : undefined}>
      <OperatorReviews />
      <Ready query={query}>
        <DataTable name="operators" label={t('operators.title')} columns={columns} rows={filterOperators(all, filters)} rowKey={(o) => o.id}
          tools={
            <>
              <TextFilter label={t('operators.filter')} value={filters.text} onChange={(text) => change({ text })} />
              <NativeSelect label={t('measure.category')} value={filters.category} onChange={(e) => change({ category: e.currentTarget.value })}
                data={[{ value: '', label: t('ui.any') }, ...categories]} />
              <NativeSelect label={t('measure.state')} value={filters.state} onChange={(e) => change({ state: e.currentTarget.value })}
                data={[{ value: '', label: t('ui.any') }, { value: 'used', label: t('operators.state.used') },
                  { value: 'withdrawn', label: t('operators.state.withdrawn') }]} />
            </>
          }
          empty={all.length === 0 ? <EmptyState title={t('operators.none.yet')} /> : (
            <EmptyState title={t('operators.none')} action={<Button onClick={() => change({ text: '', category: '', state: '' })}>{t('measure.clear')}</Button>} />)} />
      </Ready>
      {isUploading ? <UploadPackage onClose={() => setUploading(false)} /> : null}
    </Page>
  )
}

import { Button, NativeSelect } from '@mantine/core'
import { useState } from 'react'
import { Link } from '../../../app/router/link'
import { pathTo } from '../../../app/router/match'
import { useFilters } from '../../../app/router/search'
import { useSession } from '../../../app/session'
import { useText } from '../../../i18n/language'
import { nameOf, useMetricPolicies } from '../../../queries/metric_policies'
import { DataTable } from '../../../ui/data_table'
import { nothing } from '../../../ui/format'
import { Page } from '../../../ui/page'
import { StatePill } from '../../../ui/state_pill'
import { EmptyState, Ready } from '../../../ui/states'
import { Time } from '../../../ui/zone'
import { PolicyEditor } from '../policy_editor'

export function PoliciesPage() {
  const t = useText()
  const { may } = useSession()
  const [filters, change] = useFilters(['kind'])
  const query = useMetricPolicies()
  const [isAdding, setAdding] = useState(false)
  const all = query.data ?? []
  const rows = all.filter((policy) => !filters.kind || policy.document.kind === filters.kind)
  const kinds = [...new Set(all.map((policy) => policy.document.kind))]
  const add = may('manage_metering') ? <Button onClick={() => setAdding(true)}>{t('policies.add')}</Button> : undefined
  return (
    <Page title={t('policies.title')} actions={add}>
      <Ready query={query}>
        <DataTable name="metric-policies" label={t('policies.title')} rows={rows} rowKey={nameOf}
          tools={<NativeSelect label={t('policies.kind')} value={filters.kind} onChange={(e) => change({ kind: e.currentTarget.value })}
            data={[{ value: '', label: t('ui.any') }, ...kinds.map((kind) => ({ value: kind, label: t(`policies.kind.${kind}`) }))]} />}
          empty={<EmptyState title={t('policies.none')} action={add} />} columns={[
            { id: 'policy', title: t('policies.policy'), csv: (p) => nameOf(p), cell: (p) => (
              <Link href={`${pathTo('/metric-policies/:id', { id: p.id })}?version=${p.version}`}>{nameOf(p)}</Link>) },
            { id: 'state', title: t('measure.state'), csv: (p) => p.active, cell: (p) => (p.active
              ? <StatePill tone="good">{t('policies.state.active')}</StatePill> : <StatePill tone="idle">{t('policies.state.stored')}</StatePill>) },
            { id: 'kind', title: t('policies.kind'), cell: (p) => t(`policies.kind.${p.document.kind}`), csv: (p) => p.document.kind },
            { id: 'description', title: t('policies.what'), cell: (p) => p.document.description ?? nothing, csv: (p) => p.document.description },
            { id: 'created_at', title: t('measure.created'), cell: (p) => <Time at={p.created_at} />, csv: (p) => p.created_at },
            { id: 'created_by', title: t('measure.by'), cell: (p) => <code>{p.created_by}</code>, csv: (p) => p.created_by },
          ]} />
      </Ready>
      {isAdding ? <PolicyEditor start="" onClose={() => setAdding(false)} /> : null}
    </Page>
  )
}

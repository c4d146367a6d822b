import { Link } from '../../../app/router/link'
import type { PathParams } from '../../../app/router/match'
import { useSession } from '../../../app/session'
import { useText } from '../../../i18n/language'
import { type Center, useCenter } from '../../../queries/centers'
import { type ProbeFinding, useOpenFindings } from '../../../queries/findings'
import { useUnitTypes } from '../../../queries/unit_types'
import { Ago } from '../../../ui/ago'
import { CutMark } from '../../../ui/cut_list'
import { type Column, DataTable } from '../../../ui/data_table'
import { formatDuration, formatShare } from '../../../ui/format'
import { Facts, Page, Section } from '../../../ui/page'
import { ServerText } from '../../../ui/server_text'
import { Ready } from '../../../ui/states'
import { Time } from '../../../ui/zone'
import { BalancedUnits } from '../../balance/balanced_units'
import { RecentPlacements } from '../../overview/recent_placements'
import { HealthPill } from '../health'
import { ResourcesSection } from '../resources/resources_section'
import { CenterActions } from './center_actions'
import { factItems } from './facts'
import { UnitTypesOfCenter } from './unit_types_of_center'

export function CenterPage({ params }: { params: PathParams }) {
  const name = params.center ?? ''
  const t = useText()
  const { may } = useSession()
  const query = useCenter(name)
  const center = query.data
  const units = useUnitTypes(name)
  return (
    <Page title={center?.name ?? name} mark={center ? <HealthPill center={center} /> : null}
      actions={center && may('manage_network') ? <CenterActions center={center} /> : null}>
      <Ready query={query}>
        {center ? (
          <>
            <div style={{ marginBottom: 22 }}><CenterFacts center={center} /></div>
            <Section title={t('centers.unittypes')}><Ready query={units}><CutMark list={units} name={t('centers.unittypes')} /><UnitTypesOfCenter units={units.data ?? []} /></Ready></Section>
            <BalancedUnits center={center.name} />
            <ResourcesSection center={center.name} />
            <Section title={t('centers.findings')} side={<Link href={`/findings?center=${encodeURIComponent(center.name)}`}>{t('centers.findings.all')}</Link>}><Findings center={center.id} /></Section>
            {may('read_jobs') ? <Section title={t('centers.placements')}><RecentPlacements center={center.id} /></Section> : null}
            <Section title={t('centers.facts')}>
              {Object.keys(center.facts).length === 0 ? <p className="dim">{t('centers.facts.none')}</p> : <Facts items={factItems(center.facts)} />}
            </Section>
          </>
        ) : null}
      </Ready>
    </Page>
  )
}

function CenterFacts({ center }: { center: Center }) {
  const t = useText()
  const budget = center.probe_budget
  return (
    <Facts items={[
      [t('centers.id'), <code key="id">{center.id}</code>],
      [t('centers.seen'), <Ago key="s" at={center.last_seen_at} />],
      [t('centers.created'), <Time key="c" at={center.created_at} />],
      [t('centers.certificate'), <Time key="e" at={center.certificate_not_after} />],
      [t('centers.version'), center.agent_version],
      [t('centers.budget'), t('centers.budget.text', { used: formatDuration(budget.used_s), limit: formatDuration(budget.limit_s), share: formatShare(budget.share, 2) })],
      ...(center.probe_requested_at ? [[t('centers.measure'), <span key="m"><Time at={center.probe_requested_at} /> {center.probe_request_reason ? <ServerText>{center.probe_request_reason}</ServerText> : null}</span>]] as const : []),
      ...(center.drain_reason ? [[t('centers.state.drained'), center.drain_reason]] as const : []),
      ...(center.quarantine_reason ? [[t('centers.state.quarantined'), <ServerText key="q">{center.quarantine_reason}</ServerText>]] as const : []),
    ]} />
  )
}

function Findings({ center }: { center: string }) {
  const t = useText()
  const query = useOpenFindings(center)
  const columns: Column<ProbeFinding>[] = [
    { id: 'kind', title: t('centers.findings.kind'), cell: (f) => t(`findings.kind.${f.kind}`), csv: (f) => f.kind },
    { id: 'unit', title: t('centers.unit.name'), cell: (f) => f.unit_type, csv: (f) => f.unit_type },
    { id: 'detail', title: t('centers.findings.detail'), isText: true, cell: (f) => <ServerText>{f.detail}</ServerText>, csv: (f) => f.detail },
    { id: 'found', title: t('centers.findings.found'), cell: (f) => <Time at={f.found_at} />, csv: (f) => f.found_at },
  ]
  return (
    <Ready query={query}>
      <DataTable isPlain name="findings" label={t('centers.findings')} columns={columns} rows={query.data?.items ?? []} rowKey={(f) => f.id}
        empty={<p className="dim">{t('centers.findings.none')}</p>} />
    </Ready>
  )
}

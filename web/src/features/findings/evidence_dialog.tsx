import { Modal } from '@mantine/core'
import { Link } from '../../app/router/link'
import { pathTo } from '../../app/router/match'
import { useText } from '../../i18n/language'
import { costlyKinds } from '../../queries/finding_list'
import type { ProbeFinding } from '../../queries/findings'
import { useTrust } from '../../queries/trust'
import { DataTable } from '../../ui/data_table'
import { formatShare, nothing } from '../../ui/format'
import { knownWord } from '../../ui/known_word'
import { Facts, Section } from '../../ui/page'
import { ServerText } from '../../ui/server_text'
import { Time } from '../../ui/zone'
import measuring from '../measuring/measuring.module.css'
import { evidenceOf, type Fault } from './evidence'

const figureNames = ['claimed_s', 'clock_step_s', 'seen_s', 'ordered_s', 'accounted_s', 'median_s', 'cores', 'isa'] as const

/** What a finding rests on, and what it costs the unit type that it is about. */
export function EvidenceDialog({ finding, onClose }: { finding: ProbeFinding; onClose: () => void }) {
  const t = useText()
  const { figures, faults, runs } = evidenceOf(finding.evidence)
  const nameOf = (name: string) => {
    const known = knownWord(figureNames, name)
    return known ? t(`findings.figure.${known}`) : name
  }
  return (
    <Modal opened onClose={onClose} size="lg" title={t('findings.evidence')} closeButtonProps={{ 'aria-label': t('ui.close') }}>
      <p><ServerText label={t(`findings.kind.${finding.kind}`)}>{finding.detail}</ServerText></p>
      <About finding={finding} />
      {figures.length > 0 ? <Section title={t('findings.figures')}><Facts items={figures.map(([name, text]) => [nameOf(name), text] as const)} /></Section> : null}
      {faults.length > 0 ? <Section title={t('findings.faults')}><Faults faults={faults} /></Section> : null}
      {runs.length > 0 ? (
        <Section title={t('findings.runs_before')}>
          <ul>{runs.map((run) => <li key={run}><RunLink run={run} /></li>)}</ul>
        </Section>
      ) : null}
      <details>
        <summary>{t('findings.document')}</summary>
        {/* A region that scrolls must be reachable by keyboard. */}
        {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
        <pre className={measuring.pre} tabIndex={0}>{JSON.stringify(finding.evidence, null, 2)}</pre>
      </details>
    </Modal>
  )
}

function RunLink({ run }: { run: string }) {
  return <Link href={pathTo('/probe-runs/:id', { id: run })}><code>{run}</code></Link>
}

function About({ finding }: { finding: ProbeFinding }) {
  const t = useText()
  const trust = useTrust().data?.items.find((one) => one.unit_type_id === finding.unit_type_id)
  const isCostly = costlyKinds.includes(finding.kind) && finding.dismissed_at === null
  return (
    <Facts items={[
      [t('measure.center'), <Link key="c" href={pathTo('/centers/:center', { center: finding.center })}>{finding.center}</Link>],
      [t('measure.unit_type'), finding.unit_type_id ? <Link key="u" href={pathTo('/unit-types/:id', { id: finding.unit_type_id })}>{finding.unit_type}</Link> : null],
      [t('findings.run'), finding.probe_run_id ? <RunLink key="r" run={finding.probe_run_id} /> : null],
      [t('findings.found'), <Time key="t" at={finding.found_at} />],
      [t('findings.costs'), t(isCostly ? 'findings.costs.yes' : 'findings.costs.no')],
      ...(trust ? [[t('findings.trust'), t('findings.trust.of', { trust: formatShare(trust.factor), left: formatShare(trust.finding_factor), n: trust.finding_count })] as const] : []),
    ]} />
  )
}

function Faults({ faults }: { faults: readonly Fault[] }) {
  const t = useText()
  const rows = faults.map((fault, index) => ({ ...fault, index }))
  return (
    <DataTable isPlain name="finding-faults" label={t('findings.faults')} rows={rows} rowKey={(row) => String(row.index)} columns={[
      { id: 'field', title: t('findings.field'), cell: (row) => (row.field ? <code>{row.field}</code> : nothing), csv: (row) => row.field },
      { id: 'detail', title: t('findings.detail'), isText: true, cell: (row) => <ServerText>{row.detail}</ServerText>, csv: (row) => row.detail },
    ]} />
  )
}

import { Modal } from '@mantine/core'
import { Link } from '../../app/router/link'
import { pathTo } from '../../app/router/match'
import { useLanguage } from '../../i18n/language'
import { type ScoreEvidence, useScoreEvidence } from '../../queries/usage'
import { type Column, DataTable } from '../../ui/data_table'
import { formatNumber, formatShare, nothing } from '../../ui/format'
import { Facts } from '../../ui/page'
import { Ready } from '../../ui/states'
import { Time } from '../../ui/zone'
import { runsOf } from './evidence_runs'

type Part = ScoreEvidence['parts'][number]

function Runs({ ids }: { ids: string[] }) {
  if (ids.length === 0) return nothing
  return ids.map((id) => <div key={id}><Link href={pathTo('/probe-runs/:id', { id })}><code>{id}</code></Link></div>)
}

/** Why a unit scored what it was billed by: down to the probe runs. */
export function EvidenceDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const { t, locale } = useLanguage()
  const query = useScoreEvidence(id)
  const evidence = query.data
  const columns: Column<Part>[] = [
    { id: 'operator', title: t('billing.evidence.operator'), cell: (p) => <code>{p.operator_id}</code>, csv: (p) => p.operator_id },
    { id: 'size', title: t('billing.evidence.size'), cell: (p) => <code>{p.parameters_key}</code>, csv: (p) => p.parameters_key },
    { id: 'weight', title: t('billing.evidence.weight'), isNumber: true, cell: (p) => formatShare(p.weight), csv: (p) => p.weight },
    { id: 'score', title: t('billing.usage.score'), isNumber: true, cell: (p) => formatNumber(p.score, locale, 1), csv: (p) => p.score },
    { id: 'probe', title: t('billing.evidence.probe'), cell: (p) => <Runs ids={runsOf(p)} />, csv: (p) => runsOf(p).join(' ') },
    { id: 'measured', title: t('billing.evidence.measured'), cell: (p) => <Time at={p.measured_at} />, csv: (p) => p.measured_at },
  ]
  return (
    <Modal opened onClose={onClose} size="xl" title={t('billing.evidence.of', { score: formatNumber(evidence?.score, locale, 1) })} closeButtonProps={{ 'aria-label': t('ui.close') }}>
      <Ready query={query}>
        {evidence ? (
          <>
            <Facts items={[
              [t('billing.usage.unit'), <Link key="u" href={pathTo('/unit-types/:id', { id: evidence.unit_type_id })}>{evidence.center} / {evidence.unit_type}</Link>],
              [t('billing.evidence.policy'), evidence.policy],
            ]} />
            {evidence.is_assumed ? <p>{t('billing.evidence.assumed')}</p>
              : <DataTable isPlain name="score-evidence" label={t('billing.evidence')} columns={columns} rows={evidence.parts} rowKey={(p) => `${p.operator_id} ${p.parameters_key}`} />}
          </>
        ) : null}
      </Ready>
    </Modal>
  )
}

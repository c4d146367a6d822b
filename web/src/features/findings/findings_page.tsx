import { Button, Group, Modal, NativeSelect, TextInput } from '@mantine/core'
import { useState } from 'react'
import { Link } from '../../app/router/link'
import { pathTo } from '../../app/router/match'
import { useFilters } from '../../app/router/search'
import { useSession } from '../../app/session'
import { useText } from '../../i18n/language'
import { costlyKinds, findingKinds, useDismissFinding, useFindings } from '../../queries/finding_list'
import type { ProbeFinding } from '../../queries/findings'
import { type Column, DataTable } from '../../ui/data_table'
import { nothing } from '../../ui/format'
import { Page } from '../../ui/page'
import { ServerText } from '../../ui/server_text'
import { StatePill } from '../../ui/state_pill'
import { EmptyState, ErrorState, Ready } from '../../ui/states'
import { Time } from '../../ui/zone'
import { useCenterOptions } from '../centers/center_options'
import measuring from '../measuring/measuring.module.css'
import { EvidenceDialog } from './evidence_dialog'

function useFindingColumns(onEvidence: (finding: ProbeFinding) => void, onDismiss: ((finding: ProbeFinding) => void) | null): Column<ProbeFinding>[] {
  const t = useText()
  return [
    { id: 'found_at', title: t('findings.found'), cell: (f) => <Time at={f.found_at} />, csv: (f) => f.found_at },
    { id: 'kind', title: t('findings.kind'), csv: (f) => f.kind, cell: (f) => (
      <StatePill tone={f.dismissed_at ? 'idle' : costlyKinds.includes(f.kind) ? 'bad' : 'warn'}>{t(`findings.kind.${f.kind}`)}</StatePill>) },
    { id: 'place', title: t('runs.place'), csv: (f) => `${f.center}/${f.unit_type ?? ''}`, cell: (f) => (
      <Link href={pathTo('/centers/:center', { center: f.center })}>{f.center}{f.unit_type ? ` / ${f.unit_type}` : ''}</Link>) },
    { id: 'detail', title: t('findings.detail'), cell: (f) => <span className={measuring.wrap}><ServerText>{f.detail}</ServerText></span>, csv: (f) => f.detail },
    { id: 'run', title: t('findings.run'), csv: (f) => f.probe_run_id, cell: (f) => (f.probe_run_id
      ? <Link href={pathTo('/probe-runs/:id', { id: f.probe_run_id })}><code>{f.probe_run_id}</code></Link> : nothing) },
    { id: 'costs', title: t('findings.costs'), cell: (f) => t(costlyKinds.includes(f.kind) ? 'findings.costs.yes' : 'findings.costs.no'),
      csv: (f) => costlyKinds.includes(f.kind), isHidden: true },
    { id: 'dismissed_at', title: t('findings.dismissed'), cell: (f) => <Time at={f.dismissed_at} />, csv: (f) => f.dismissed_at },
    { id: 'dismissed_by', title: t('findings.dismissed.by'), cell: (f) => f.dismissed_by ?? nothing, csv: (f) => f.dismissed_by, isHidden: true },
    { id: 'acts', title: t('findings.evidence'), cell: (f) => (
      <span style={{ display: 'inline-flex', gap: 6 }}>
        <Button size="compact-xs" aria-label={t('findings.evidence.show', { id: f.id })} onClick={() => onEvidence(f)}>{t('findings.evidence')}</Button>
        {onDismiss && !f.dismissed_at ? <Button size="compact-xs" aria-label={`${t('findings.dismiss')} ${f.id}`} onClick={() => onDismiss(f)}>{t('findings.dismiss')}</Button> : null}
      </span>) },
  ]
}

export function FindingsPage() {
  const t = useText()
  const { may } = useSession()
  const [raw, change] = useFilters(['center', 'kind', 'open'])
  const filters = {
    center: raw.center, kind: findingKinds.find((kind) => kind === raw.kind) ?? ('' as const),
    open: (['open', 'dismissed'] as const).find((open) => open === raw.open) ?? ('' as const),
  }
  const query = useFindings(filters)
  const centers = useCenterOptions({ none: t('ui.any'), chosen: filters.center })
  const [evidence, showEvidence] = useState<ProbeFinding | null>(null)
  const [dismissed, setDismissed] = useState<ProbeFinding | null>(null)
  const columns = useFindingColumns(showEvidence, may('manage_metering') ? setDismissed : null)
  const isFiltered = filters.center !== '' || filters.kind !== '' || filters.open !== ''
  const tools = (
    <>
      <NativeSelect label={t('measure.center')} value={filters.center} onChange={(e) => change({ center: e.currentTarget.value })}
        data={centers} />
      <NativeSelect label={t('findings.kind')} value={filters.kind} onChange={(e) => change({ kind: e.currentTarget.value })}
        data={[{ value: '', label: t('ui.any') }, ...findingKinds.map((kind) => ({ value: kind, label: t(`findings.kind.${kind}`) }))]} />
      <NativeSelect label={t('findings.state')} value={filters.open} onChange={(e) => change({ open: e.currentTarget.value })}
        data={[{ value: '', label: t('ui.any') }, { value: 'open', label: t('findings.state.open') }, { value: 'dismissed', label: t('findings.state.dismissed') }]} />
    </>
  )
  return (
    <Page title={t('findings.title')}>
      <p className={measuring.note}>{t('findings.intro')}</p>
      <Ready query={query} tools={tools}>
        <DataTable name="findings" label={t('findings.title')} columns={columns} rows={query.items ?? []} rowKey={(f) => f.id} pages={query} tools={tools}
          empty={isFiltered
            ? <EmptyState title={t('findings.none')} action={<Button onClick={() => change({ center: '', kind: '', open: '' })}>{t('measure.clear')}</Button>} />
            : <EmptyState title={t('findings.none.yet')} />} />
      </Ready>
      {evidence ? <EvidenceDialog finding={evidence} onClose={() => showEvidence(null)} /> : null}
      {dismissed ? <DismissFinding finding={dismissed} onClose={() => setDismissed(null)} /> : null}
    </Page>
  )
}

function DismissFinding({ finding, onClose }: { finding: ProbeFinding; onClose: () => void }) {
  const t = useText()
  const [reason, setReason] = useState('')
  const dismiss = useDismissFinding()
  return (
    <Modal opened onClose={onClose} title={t('findings.dismiss.title')} closeButtonProps={{ 'aria-label': t('ui.close') }}>
      <form onSubmit={(event) => {
        event.preventDefault()
        if (reason.trim()) dismiss.mutate({ id: finding.id, reason: reason.trim() }, { onSuccess: onClose })
      }}>
        <p><ServerText>{finding.detail}</ServerText></p>
        <p>{t('findings.dismiss.text')}</p>
        <TextInput data-autofocus label={t('findings.dismiss.reason')} value={reason} maxLength={500} onChange={(e) => setReason(e.currentTarget.value)} />
        {dismiss.error ? <div style={{ marginTop: 12 }}><ErrorState error={dismiss.error} /></div> : null}
        <Group mt="md" gap="xs" justify="flex-end">
          <Button onClick={onClose}>{t('ui.cancel')}</Button>
          <Button type="submit" variant="filled" disabled={reason.trim() === ''} loading={dismiss.isPending}>{t('findings.dismiss.do')}</Button>
        </Group>
      </form>
    </Modal>
  )
}

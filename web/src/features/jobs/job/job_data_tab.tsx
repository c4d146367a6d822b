import { useText } from '../../../i18n/language'
import type { Job } from '../../../queries/jobs'
import { DataTable } from '../../../ui/data_table'
import { formatBytes, nothing } from '../../../ui/format'
import { Section } from '../../../ui/page'
import { dataOf, outputAddress } from './job_data'

/** What its center fetches for it, and what it stores elsewhere, with what of that stands there. */
export function JobDataTab({ job }: { job: Job }) {
  const t = useText()
  const { inputs, outputs } = dataOf(job)
  const path = { id: 'path', title: t('jobs.data.path'), cell: (row: { path: string }) => <code>{row.path}</code>, csv: (row: { path: string }) => row.path }
  const size = { id: 'size', title: t('jobs.data.size'), isNumber: true, cell: (row: { sizeBytes: number | null }) => formatBytes(row.sizeBytes),
    csv: (row: { sizeBytes: number | null }) => row.sizeBytes }
  const digest = { id: 'sha256', title: 'SHA-256', cell: (row: { sha256: string }) => (row.sha256 ? <code>{row.sha256}</code> : nothing),
    csv: (row: { sha256: string }) => row.sha256 }
  return (
    <>
      {inputs.length > 0 ? (
        <Section title={t('jobs.data.inputs')}>
          <DataTable isPlain name="job-inputs" label={t('jobs.data.inputs')} rows={inputs} rowKey={(row) => row.path}
            columns={[path, { id: 'from', title: t('jobs.data.from'), cell: (row) => row.url, csv: (row) => row.url }, size, digest]} />
        </Section>
      ) : null}
      {outputs.length > 0 ? (
        <Section title={t('jobs.data.outputs')}>
          <DataTable isPlain name="job-outputs" label={t('jobs.data.outputs')} rows={outputs} rowKey={(row) => row.path}
            columns={[path, { id: 'to', title: t('jobs.data.to'), cell: (row) => row.url, csv: (row) => row.url },
              { id: 'stored', title: t('jobs.data.stored'), cell: (row) => t(row.isStored ? 'jobs.data.yes' : 'jobs.data.no'), csv: (row) => row.isStored }, size, digest,
              { id: 'fetch', title: t('jobs.data.fetch'),
                cell: (row) => row.isStored
                  // In a tab of its own: where there is no copy, that shows the reason.
                  ? <a href={outputAddress(job.id, row.path)} target="_blank" rel="noreferrer">{t('jobs.data.fetch.do')}</a> : nothing }]} />
        </Section>
      ) : null}
    </>
  )
}

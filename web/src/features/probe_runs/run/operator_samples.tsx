import { useText } from '../../../i18n/language'
import type { OperatorResult } from '../../../queries/probe_runs'
import { CsvButton } from '../../../ui/csv_button'
import { DataTable } from '../../../ui/data_table'
import { formatDuration, nothing } from '../../../ui/format'
import { Section } from '../../../ui/page'
import { formatSize } from '../../../ui/rates'
import measuring from '../../measuring/measuring.module.css'
import { causeText, samplesOf } from './sample_marks'
import { SamplePlot } from './sample_plot'

/** The samples of one operator: drawn, and as a table. */
export function OperatorSamples({ result }: { result: OperatorResult }) {
  const t = useText()
  const samples = samplesOf(result)
  const marks = (isOutlier: boolean, causes: readonly string[]) => [...(isOutlier ? [t('runs.samples.outlier')] : []), ...causes.map((cause) => causeText(t, cause))].join(', ')
  const title = t('runs.samples', { id: `${result.id} ${formatSize(result.parameters)}` })
  return (
    <Section title={title} side={<CsvButton name={`samples-${result.id}`} header={['sample', 'seconds', 'outlier', 'disturbed']}
      rows={() => samples.map((s) => [s.number, s.seconds, s.isOutlier, s.causes.join(' ')])} />}>
      <SamplePlot result={result} />
      <p className={measuring.note}>{t('runs.samples.key')}</p>
      <details>
        <summary>{t('measure.table')}</summary>
        <DataTable isPlain name="samples" label={title} rows={samples} rowKey={(s) => String(s.number)} columns={[
          { id: 'number', title: t('runs.samples.number'), isNumber: true, cell: (s) => s.number },
          { id: 'seconds', title: t('runs.samples.value'), isNumber: true, cell: (s) => formatDuration(s.seconds) },
          { id: 'mark', title: t('runs.samples.mark'), cell: (s) => marks(s.isOutlier, s.causes) || nothing },
        ]} />
      </details>
    </Section>
  )
}

import { useText } from '../../i18n/language'
import { useSpeedupAccuracy } from '../../queries/speedup'
import { DataTable } from '../../ui/data_table'
import { formatDuration, nothing } from '../../ui/format'
import { Section } from '../../ui/page'
import { formatFigure } from '../../ui/rates'
import { Ready } from '../../ui/states'

/** The raw predictions for jobs on each kind of unit, and what came. */
export function SpeedupAccuracy({ center }: { center: string }) {
  const t = useText()
  const query = useSpeedupAccuracy(center)
  return (
    <Section title={t('speedup.accuracy')}>
      <Ready query={query}>
        <DataTable name="speedup-accuracy" label={t('speedup.accuracy')} rows={query.items ?? []} rowKey={(a) => `${a.center_id} ${a.resource_type} ${a.job_type}`} pages={query}
          empty={<p className="dim">{t('speedup.accuracy.none')}</p>} columns={[
            { id: 'center', title: t('measure.center'), cell: (a) => a.center, csv: (a) => a.center },
            { id: 'resource_type', title: t('speedup.accuracy.kind'), cell: (a) => a.resource_type, csv: (a) => a.resource_type },
            { id: 'job_type', title: t('speedup.accuracy.type'), cell: (a) => a.job_type || nothing, csv: (a) => a.job_type },
            { id: 'job_count', title: t('speedup.accuracy.jobs'), isNumber: true, cell: (a) => a.job_count, csv: (a) => a.job_count },
            { id: 'raw_prediction_s', title: t('speedup.accuracy.raw'), isNumber: true, cell: (a) => formatDuration(a.raw_prediction_s), csv: (a) => a.raw_prediction_s },
            { id: 'actual_s', title: t('speedup.accuracy.actual'), isNumber: true, cell: (a) => formatDuration(a.actual_s), csv: (a) => a.actual_s },
            { id: 'ratio', title: t('speedup.accuracy.ratio'), isNumber: true, cell: (a) => formatFigure(a.ratio), csv: (a) => a.ratio },
          ]} />
      </Ready>
    </Section>
  )
}

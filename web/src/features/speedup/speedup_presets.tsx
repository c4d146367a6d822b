import { Button } from '@mantine/core'
import { useText } from '../../i18n/language'
import { type SpeedupQuestion, useSpeedups } from '../../queries/speedup'
import { DataTable } from '../../ui/data_table'
import { nothing } from '../../ui/format'
import { Section } from '../../ui/page'
import measuring from '../measuring/measuring.module.css'
import { type Fields, presets, toQuestion } from './question'

const questions = presets.map((preset) => toQuestion(preset.fields).question).filter((one): one is SpeedupQuestion => one !== null)

/** The worked examples of the model, as the server answers them now, each a start for the form. */
export function SpeedupPresets({ onTake }: { onTake: (fields: Fields) => void }) {
  const t = useText()
  const answers = useSpeedups(questions)
  const rows = presets.map((preset, i) => ({ ...preset, answer: answers[i]?.data }))
  const titleOf = (row: (typeof rows)[number]) => `${t(`speedup.network.${row.network}`)}, ${t(row.kind === 'linear' ? 'speedup.presets.filter' : 'speedup.presets.join')}, t = ${row.fields.t} s`
  return (
    <Section title={t('speedup.presets')}>
      <p className={measuring.note}>{t('speedup.presets.hint')}</p>
      <DataTable name="speedup-presets" label={t('speedup.presets')} rows={rows} rowKey={(row) => row.id} columns={[
        { id: 'network', title: t('speedup.presets.network'), cell: (row) => t(`speedup.network.${row.network}`), csv: (row) => row.network },
        { id: 'compression', title: t('speedup.presets.compression'), cell: (row) => t(row.isCompressed ? 'ui.yes' : 'ui.no'), csv: (row) => row.isCompressed },
        { id: 'operator', title: t('measure.operator'), cell: (row) => t(row.kind === 'linear' ? 'speedup.presets.filter' : 'speedup.presets.join'), csv: (row) => row.kind },
        { id: 't', title: 't, s', isNumber: true, cell: (row) => row.fields.t, csv: (row) => row.fields.t },
        { id: 'cpu_s', title: `${t('speedup.cpu')}, s`, isNumber: true, cell: (row) => row.answer?.cpu_s.toFixed(4) ?? nothing, csv: (row) => row.answer?.cpu_s },
        { id: 'gpu_s', title: `${t('speedup.gpu')}, s`, isNumber: true, cell: (row) => row.answer?.gpu_s.toFixed(4) ?? nothing, csv: (row) => row.answer?.gpu_s },
        { id: 'speedup', title: 'N', isNumber: true, cell: (row) => row.answer?.speedup.toFixed(4) ?? nothing, csv: (row) => row.answer?.speedup },
        { id: 'run_on', title: t('speedup.decision'), cell: (row) => row.answer?.run_on ?? nothing, csv: (row) => row.answer?.run_on },
        { id: 'take', title: t('speedup.form'), cell: (row) => (
          <Button size="compact-xs" aria-label={`${t('speedup.presets.take')}: ${titleOf(row)}`} onClick={() => onTake(row.fields)}>{t('speedup.presets.take')}</Button>) },
      ]} />
    </Section>
  )
}

import { useText } from '../../i18n/language'
import type { SpeedupAnswer } from '../../queries/speedup'
import { DataTable } from '../../ui/data_table'
import { formatDuration } from '../../ui/format'
import { Facts, Section } from '../../ui/page'
import { formatFigure } from '../../ui/rates'
import { ServerText } from '../../ui/server_text'

type Runs = NonNullable<SpeedupAnswer['runs']>['cpu']

/** Both times, which is to be taken, and where a center's coefficients are from. */
export function Answer({ answer }: { answer: SpeedupAnswer }) {
  const t = useText()
  const runs = answer.runs
  const past = (one: Runs) => (one ? t('speedup.runs', { n: one.job_count, ratio: formatFigure(one.ratio) }) : null)
  const coefficients = Object.entries(answer.coefficients ?? {})
  return (
    <Section title={t('speedup.answer')}>
      <Facts items={[
        [t('speedup.decision'), <strong key="d">{answer.run_on}</strong>],
        [t('speedup.n.value'), <strong key="n">{answer.speedup.toFixed(4)}</strong>],
        [t('speedup.cpu'), `${answer.cpu_s.toFixed(4)} s (${formatDuration(answer.cpu_s)})`],
        [t('speedup.gpu'), `${answer.gpu_s.toFixed(4)} s (${formatDuration(answer.gpu_s)})`],
        ...(answer.operator ? [[t('measure.operator'), answer.operator] as const] : []),
        ...(runs ? [
          [t('speedup.corrected'), runs.corrected_speedup === null ? t('speedup.corrected.none') : `N = ${runs.corrected_speedup.toFixed(4)}, ${runs.corrected_run_on ?? ''}`] as const,
          [`${t('speedup.corrected')}: CPU`, past(runs.cpu)] as const, [`${t('speedup.corrected')}: GPU`, past(runs.gpu)] as const] : []),
      ]} />
      {coefficients.length > 0 ? (
        <>
          <h3 style={{ fontSize: 12, fontWeight: 600, margin: '12px 0 6px' }}>{t('speedup.coefficients')}</h3>
          <DataTable isPlain name="speedup-coefficients" label={t('speedup.coefficients')} rows={coefficients} rowKey={([name]) => name} columns={[
            { id: 'name', title: t('speedup.coefficient'), cell: ([name]) => <code>{name}</code>, csv: ([name]) => name },
            { id: 'value', title: t('speedup.value'), isNumber: true, cell: ([, one]) => formatFigure(one.value), csv: ([, one]) => one.value },
            { id: 'source', title: t('speedup.source'), cell: ([, one]) => t(`speedup.source.${one.source}`), csv: ([, one]) => one.source },
            { id: 'basis', title: t('speedup.basis'), cell: ([, one]) => <ServerText>{one.basis}</ServerText>, csv: ([, one]) => one.basis },
          ]} />
        </>) : null}
    </Section>
  )
}

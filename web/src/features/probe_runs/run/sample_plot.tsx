import { useText } from '../../../i18n/language'
import type { OperatorResult } from '../../../queries/probe_runs'
import { formatDuration } from '../../../ui/format'
import { samplesOf } from './sample_marks'
import styles from './samples.module.css'

const width = 720
const height = 150
const left = 88
/** Below it stand the numbers of the samples and the name of their axis. */
const bottom = 122

/** Every sample in turn. Marks differ in form, so that they are told apart without colour. */
export function SamplePlot({ result }: { result: OperatorResult }) {
  const t = useText()
  const samples = samplesOf(result)
  const low = Math.min(result.ci_low_s, ...result.samples_s)
  const high = Math.max(result.ci_high_s, ...result.samples_s)
  const y = (seconds: number) => (high > low ? bottom - 12 - ((seconds - low) / (high - low)) * (bottom - 24) : bottom / 2)
  const x = (i: number) => left + 8 + (i * (width - left - 16)) / Math.max(1, samples.length - 1)
  const label = t('runs.samples.summary', {
    n: samples.length, median: formatDuration(result.median_s), outliers: result.outliers.length, disturbed: result.disturbed?.length ?? 0 })
  return (
    <svg className={styles.plot} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
      <rect className={styles.band} x={left} width={width - left} y={y(result.ci_high_s)} height={Math.max(1, y(result.ci_low_s) - y(result.ci_high_s))} />
      <line className={styles.median} x1={left} x2={width} y1={y(result.median_s)} y2={y(result.median_s)} />
      <path className={styles.axes} d={`M${left} 0 V${bottom} H${width}`} />
      <text className={styles.axis} x={left - 6} y={16} textAnchor="end">{formatDuration(high)}</text>
      <text className={styles.axis} x={left - 6} y={bottom - 8} textAnchor="end">{formatDuration(low)}</text>
      <text className={styles.axis} transform={`translate(14 ${bottom / 2}) rotate(-90)`} textAnchor="middle">{t('runs.samples.axis.time')}</text>
      <text className={styles.axis} x={x(0)} y={bottom + 14} textAnchor="middle">1</text>
      {samples.length > 1 ? <text className={styles.axis} x={x(samples.length - 1)} y={bottom + 14} textAnchor="middle">{samples.length}</text> : null}
      <text className={styles.axis} x={(left + width) / 2} y={height - 8} textAnchor="middle">{t('runs.samples.axis.number')}</text>
      {samples.map((sample, i) => {
        const cy = y(sample.seconds)
        if (sample.isOutlier) return <rect key={i} className={styles.outlier} x={x(i) - 4} y={cy - 4} width="8" height="8" />
        if (sample.causes.length > 0) return <path key={i} className={styles.disturbed} d={`M${x(i)} ${cy - 5} l5 9 h-10 z`} />
        return <circle key={i} className={styles.sample} cx={x(i)} cy={cy} r="2.5" />
      })}
    </svg>
  )
}

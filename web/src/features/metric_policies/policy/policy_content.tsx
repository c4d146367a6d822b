import { Link } from '../../../app/router/link'
import { pathTo } from '../../../app/router/match'
import { useText } from '../../../i18n/language'
import type { MetricPolicy } from '../../../queries/metric_policies'
import { DataTable } from '../../../ui/data_table'
import { formatDuration, formatShare, nothing } from '../../../ui/format'
import { Facts, Section } from '../../../ui/page'
import { formatFigure, formatSize } from '../../../ui/rates'
import { LongFacts } from '../../measuring/long_facts'
import measuring from '../../measuring/measuring.module.css'

/** What a policy says, for people: its points, its reference machine, or its parts. */
export function PolicyContent({ policy }: { policy: MetricPolicy }) {
  const t = useText()
  const document = policy.document
  const weights = Object.entries(document.aggregate?.categories ?? {})
  return (
    <>
      {document.kind === 'intervals' ? document.figures.map((figure) => (
        <Section key={figure.figure} title={`${t('policies.figures')}: ${t(`policies.figure.${figure.figure}`)}`} side={<span className="dim">{t('policies.weight')}: {formatShare(figure.weight)}</span>}>
          <DataTable isPlain name="policy-steps" label={t(`policies.figure.${figure.figure}`)} rows={figure.steps.map((step, i) => ({
            ...step, key: i, start: step.from ?? (i === 0 ? 0 : figure.steps[i - 1]?.below) }))} rowKey={(s) => String(s.key)} columns={[
            { id: 'from', title: t('policies.from'), isNumber: true, cell: (s) => formatFigure(s.start), csv: (s) => s.start },
            { id: 'below', title: t('policies.below'), isNumber: true, cell: (s) => (s.below === undefined || s.below === null ? '∞' : formatFigure(s.below)), csv: (s) => s.below },
            { id: 'points', title: t('policies.points'), isNumber: true, cell: (s) => formatFigure(s.points), csv: (s) => s.points },
          ]} />
        </Section>)) : null}
      {document.kind === 'relative' ? (
        <Section title={t('policies.reference')}>
          <LongFacts items={[[t('policies.machine'), document.reference_machine]]} />
          <div style={{ marginTop: 10 }}>
            <DataTable name="policy-reference" label={t('policies.reference')} rows={document.reference} rowKey={(r) => `${r.operator} ${formatSize(r.parameters ?? {})}`} columns={[
              { id: 'operator', title: t('measure.operator'), cell: (r) => <Link href={pathTo('/operators/:id', { id: r.operator })}>{r.operator}</Link>, csv: (r) => r.operator },
              { id: 'size', title: t('measure.size'), cell: (r) => <code>{formatSize(r.parameters ?? {}) || nothing}</code>, csv: (r) => formatSize(r.parameters ?? {}) },
              { id: 'operations', title: t('operators.operations'), isNumber: true, cell: (r) => formatFigure(r.operations), csv: (r) => r.operations },
              { id: 'bytes', title: t('operators.bytes'), isNumber: true, cell: (r) => formatFigure(r.bytes), csv: (r) => r.bytes },
              { id: 'median_s', title: t('measure.median'), isNumber: true, cell: (r) => formatDuration(r.median_s), csv: (r) => r.median_s },
            ]} />
          </div>
        </Section>) : null}
      {document.kind === 'combined' ? (
        <Section title={t('policies.combined')}>
          <DataTable isPlain name="policy-parts" label={t('policies.combined')} rows={document.policies} rowKey={(p) => p.policy} columns={[
            { id: 'policy', title: t('policies.policy'), cell: (p) => p.policy, csv: (p) => p.policy },
            { id: 'weight', title: t('policies.weight'), isNumber: true, cell: (p) => formatShare(p.weight), csv: (p) => p.weight },
          ]} />
        </Section>) : null}
      {weights.length > 0 ? (
        <Section title={t('policies.aggregate')}>
          <Facts items={weights.map(([category, weight]) => [category, formatShare(weight)] as const)} />
        </Section>) : null}
      <details>
        <summary>{t('policies.document')}</summary>
        {/* A region that scrolls must be reachable by keyboard. */}
        {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
        <pre className={measuring.pre} tabIndex={0}>{JSON.stringify(document, null, 2)}</pre>
      </details>
    </>
  )
}

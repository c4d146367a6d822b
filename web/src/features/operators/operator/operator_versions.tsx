import { NativeSelect } from '@mantine/core'
import { useText } from '../../../i18n/language'
import { useOperatorVersions } from '../../../queries/operator_library'
import type { Operator } from '../../../queries/operators'
import { DataTable } from '../../../ui/data_table'
import { DiffTable } from '../../../ui/diff_table'
import { diffJson } from '../../../ui/json_diff'
import { Section } from '../../../ui/page'
import { StatePill } from '../../../ui/state_pill'
import { Ready } from '../../../ui/states'
import { Time } from '../../../ui/zone'
import measuring from '../../measuring/measuring.module.css'
import { manifestOf } from '../manifest'

/** Every version, and what differs between the one that is shown and another. */
export function OperatorVersions(props: {
  id: string
  shown: Operator
  other: string
  onShow: (version: string) => void
  onCompare: (version: string) => void
}) {
  const t = useText()
  const query = useOperatorVersions(props.id)
  const versions = query.items ?? []
  const others = versions.filter((one) => one.version !== props.shown.version)
  const other = others.find((one) => String(one.version) === props.other)
  const [before, after] = other && other.version < props.shown.version ? [other, props.shown] : [props.shown, other]
  const differences = before && after ? diffJson(manifestOf(before), manifestOf(after)) : []
  return (
    <Section title={t('operators.versions')}>
      <Ready query={query}>
        <DataTable isPlain name="operator-versions" label={t('operators.versions')} rows={versions} rowKey={(v) => String(v.version)} pages={query} columns={[
          { id: 'version', title: t('measure.version'), isNumber: true, cell: (v) => v.version, csv: (v) => v.version },
          { id: 'state', title: t('measure.state'), cell: (v) => (v.withdrawn_at
            ? <StatePill tone="warn">{t('operators.state.withdrawn')}</StatePill> : <StatePill tone="good">{t('operators.state.used')}</StatePill>), csv: (v) => (v.withdrawn_at ? 'withdrawn' : 'used') },
          { id: 'origin', title: t('operators.origin'), cell: (v) => t(`operators.origin.${v.origin}`), csv: (v) => v.origin },
          { id: 'at', title: t('measure.created'), cell: (v) => <Time at={v.created_at} />, csv: (v) => v.created_at },
          { id: 'by', title: t('measure.by'), cell: (v) => <code>{v.created_by}</code>, csv: (v) => v.created_by },
          { id: 'gone', title: t('operators.withdrawn.at'), cell: (v) => <Time at={v.withdrawn_at} />, csv: (v) => v.withdrawn_at },
        ]} />
        {others.length === 0 ? <p className={measuring.note}>{t('operators.versions.one')}</p> : (
          <div className={measuring.tools} style={{ marginTop: 10 }}>
            <NativeSelect label={t('measure.version')} value={String(props.shown.version)} onChange={(e) => props.onShow(e.currentTarget.value)}
              data={versions.map((one) => String(one.version))} />
            <NativeSelect label={t('operators.versions.compare')} value={other ? props.other : ''} onChange={(e) => props.onCompare(e.currentTarget.value)}
              data={[{ value: '', label: t('ui.none') }, ...others.map((one) => String(one.version))]} />
          </div>
        )}
        {before && after ? (differences.length === 0 ? <p className="dim">{t('operators.versions.same')}</p> : (
          <DiffTable name="operator-diff" label={t('operators.diff', { a: before.version, b: after.version })} differences={differences}
            before={t('operators.diff.before', { n: before.version })} after={t('operators.diff.before', { n: after.version })} />)) : null}
      </Ready>
    </Section>
  )
}

import { Checkbox, TextInput } from '@mantine/core'
import { useText } from '../../../i18n/language'
import { DataTable } from '../../../ui/data_table'
import { formatShare, nothing } from '../../../ui/format'
import type { ComposeLine } from './compose_draft'
import { countOf } from './compose_draft'

/** The operators that may go into the task, one a row. */
export function ComposeLines({ lines, ratio, onChange }: { lines: readonly ComposeLine[]; ratio: number; onChange: (lines: ComposeLine[]) => void }) {
  const t = useText()
  const set = (label: string, change: Partial<ComposeLine>) => onChange(lines.map((line) => (line.label === label ? { ...line, ...change } : line)))
  const others = (line: ComposeLine) => lines.filter((one) => one.isPicked && one.label !== line.label)
  return (
    <DataTable isPlain name="compose-lines" label={t('tasks.operators')} rows={lines} rowKey={(line) => line.label} empty={<p className="dim">{t('ui.none')}</p>} columns={[
      { id: 'pick', title: t('compose.pick'), cell: (line) => (
        <Checkbox checked={line.isPicked} aria-label={t('ui.select.row', { name: `${line.label} ${line.id}` })} onChange={(e) => set(line.label, { isPicked: e.currentTarget.checked })} />) },
      { id: 'label', title: t('compose.label'), cell: (line) => line.label },
      { id: 'operator', title: t('measure.operator'), cell: (line) => line.id },
      { id: 'size', title: t('measure.size'), cell: (line) => (
        <span style={{ display: 'inline-flex', gap: 6, flexWrap: 'wrap' }}>
          {Object.entries(line.parameters).map(([name, value]) => (
            <TextInput key={name} w={76} inputMode="numeric" aria-label={`${line.label} ${name}`} title={name} leftSection={<span style={{ fontSize: 11 }}>{name.slice(0, 3)}</span>}
              leftSectionWidth={24} value={value} onChange={(e) => set(line.label, { parameters: { ...line.parameters, [name]: e.currentTarget.value } })} />
          ))}
        </span>) },
      { id: 'jobCount', title: t('compose.count'), isNumber: true, cell: (line) => line.jobCount ?? nothing },
      { id: 'share', title: t('tasks.share'), isNumber: true, cell: (line) => formatShare(line.share) },
      { id: 'count', title: t('compose.scaled'), isNumber: true, cell: (line) => (
        <TextInput w={70} inputMode="numeric" aria-label={`${line.label}: ${t('measure.count')}`} value={line.count} placeholder={String(countOf({ ...line, count: '' }, ratio) ?? '')}
          onChange={(e) => set(line.label, { count: e.currentTarget.value })} />) },
      { id: 'inputs', title: t('compose.feeds'), cell: (line) => (line.isPicked && others(line).length > 0 ? (
        <span role="group" aria-label={`${line.label}: ${t('compose.feeds')}`} style={{ display: 'inline-flex', gap: 10, flexWrap: 'wrap' }}>
          {others(line).map((one) => (
            <Checkbox key={one.label} label={one.label} checked={line.inputs.includes(one.label)} onChange={(e) => set(line.label, {
              inputs: e.currentTarget.checked ? [...line.inputs, one.label] : line.inputs.filter((label) => label !== one.label) })} />
          ))}
        </span>) : <span className="dim">{t('compose.feeds.own')}</span>) },
    ]} />
  )
}

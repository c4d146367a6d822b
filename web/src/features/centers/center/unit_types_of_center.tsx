import { Link } from '../../../app/router/link'
import { pathTo } from '../../../app/router/match'
import { useText } from '../../../i18n/language'
import type { UnitType } from '../../../queries/unit_types'
import { type Column, DataTable } from '../../../ui/data_table'
import { formatBytes, nothing } from '../../../ui/format'
import { ServerText } from '../../../ui/server_text'
import { EmptyState } from '../../../ui/states'
import { Time } from '../../../ui/zone'

export function UnitTypesOfCenter({ units }: { units: readonly UnitType[] }) {
  const t = useText()
  const columns: Column<UnitType>[] = [
    { id: 'name', title: t('centers.unit.name'), cell: (u) => <Link href={pathTo('/unit-types/:id', { id: u.id })}>{u.name}</Link>, csv: (u) => u.name },
    { id: 'resource', title: t('centers.unit.resource'), cell: (u) => u.resource_type, csv: (u) => u.resource_type },
    { id: 'use', title: t('centers.unit.use'), isNumber: true, cell: (u) => `${u.units_in_use} / ${u.unit_count}`, csv: (u) => u.units_in_use },
    { id: 'cores', title: t('centers.unit.cores'), isNumber: true, cell: (u) => u.cores_per_unit, csv: (u) => u.cores_per_unit },
    { id: 'memory', title: t('centers.unit.memory'), isNumber: true, cell: (u) => formatBytes(u.memory_bytes_per_unit), csv: (u) => u.memory_bytes_per_unit },
    { id: 'cpu', title: t('centers.unit.cpu'), cell: (u) => processorOf(u) ?? nothing, csv: processorOf },
    { id: 'operators', title: t('centers.unit.operators'), isNumber: true, cell: (u) => <span title={u.operators.join(', ')}>{u.operators.length}</span>, csv: (u) => u.operators.join(' ') },
    { id: 'active', title: t('centers.unit.active'), cell: (u) => t(u.active ? 'ui.yes' : 'ui.no'), csv: (u) => u.active },
    { id: 'changed', title: t('centers.unit.changed'), cell: (u) => <Time at={u.changed_at} />, csv: (u) => u.changed_at },
  ]
  const advice = units.flatMap((unit) => unit.advice.map((a) => ({ unit: unit.name, ...a })))
  return (
    <>
      <DataTable isPlain name="unit-types-of-center" label={t('centers.unittypes')} columns={columns} rows={units} rowKey={(u) => u.id}
        empty={<EmptyState title={t('centers.unittypes.none')} />} />
      {advice.length > 0 ? (
        <>
          <h3 style={{ fontSize: 13, fontWeight: 600, margin: '12px 0 4px' }}>{t('centers.advice')}</h3>
          <ul style={{ margin: 0, paddingLeft: 18 }}>
            {advice.map((a, i) => <li key={i}><strong>{a.unit}</strong>: <ServerText>{a.message}</ServerText> <span className="dim"><ServerText>{a.remedy}</ServerText></span></li>)}
          </ul>
        </>
      ) : null}
    </>
  )
}

function processorOf(unit: UnitType): string | undefined {
  const facts = unit.facts as Record<string, unknown>
  const model = facts.gpu_model ?? facts.cpu_model
  return typeof model === 'string' ? model : undefined
}

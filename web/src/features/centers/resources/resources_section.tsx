import { Button } from '@mantine/core'
import { useState } from 'react'
import { useSession } from '../../../app/session'
import { useText } from '../../../i18n/language'
import { type CenterResources, type ResourceDifference, useCenterResources } from '../../../queries/center_resources'
import { type Column, DataTable } from '../../../ui/data_table'
import { Facts, Section } from '../../../ui/page'
import { ServerText } from '../../../ui/server_text'
import { Ready } from '../../../ui/states'
import { Time } from '../../../ui/zone'
import { EditResources } from './edit_resources'
import { codeText, permissionText, stateText } from './state_text'

/** What administrators want a center to offer, what it lacks of that, and what has changed by itself. */
export function ResourcesSection({ center }: { center: string }) {
  const t = useText()
  const { may } = useSession()
  const query = useCenterResources(center)
  const [editing, setEditing] = useState<CenterResources | null>(null)
  const resources = query.data
  return (
    <Section title={t('centers.resources')}>
      <Ready query={query}>
        {resources ? (
          <>
            <ResourceFacts resources={resources} />
            {may('manage_network') ? <Button mt="sm" onClick={() => setEditing(resources)}>{t('centers.resources.edit')}</Button> : null}
            {resources.reported?.differences.length ? <Differences differences={resources.reported.differences} /> : null}
            {resources.changes.length > 0 ? <Changes changes={resources.changes} /> : null}
            {editing ? <EditResources resources={editing} onClose={() => setEditing(null)} /> : null}
          </>
        ) : null}
      </Ready>
    </Section>
  )
}

function ResourceFacts({ resources }: { resources: CenterResources }) {
  const t = useText()
  return (
    <Facts items={[
      [t('centers.resources.state'), <span key="s">{stateText(t, resources.state)} {resources.reported?.detail ? <ServerText>{resources.reported.detail}</ServerText> : null}</span>],
      [t('centers.resources.version'), resources.version],
      ...(resources.changed_at ? [[t('centers.unit.changed'), <Time key="c" at={resources.changed_at} />]] as const : []),
      ...(resources.unit_types.length > 0 ? [[t('centers.resources.wanted'), resources.unit_types.map((u) => u.name).join(', ')]] as const : []),
      ...(resources.reported?.permission ? [[t('centers.resources.permission'), <span key="p" title={resources.reported.permission}>{permissionText(t, resources.reported.permission)}</span>]] as const : []),
    ]} />
  )
}

function Differences({ differences }: { differences: readonly ResourceDifference[] }) {
  const t = useText()
  const rows = differences.map((difference, index) => ({ ...difference, index }))
  const isCounted = (d: ResourceDifference) => d.wanted > 0
  const columns: Column<(typeof rows)[number]>[] = [
    { id: 'unit', title: t('centers.unit.name'), cell: (d) => d.unit_type, csv: (d) => d.unit_type },
    { id: 'code', title: t('centers.resources.code'), cell: (d) => <span title={d.code}>{codeText(t, d.code)}</span>, csv: (d) => d.code },
    { id: 'wanted', title: t('centers.resources.wantedcount'), isNumber: true, cell: (d) => isCounted(d) ? d.wanted : null, csv: (d) => isCounted(d) ? d.wanted : null },
    { id: 'seen', title: t('centers.resources.seencount'), isNumber: true, cell: (d) => isCounted(d) ? d.seen : null, csv: (d) => isCounted(d) ? d.seen : null },
    { id: 'detail', title: t('centers.findings.detail'), isText: true, cell: (d) => <ServerText>{d.detail}</ServerText>, csv: (d) => d.detail },
  ]
  return (
    <>
      <h3 style={{ fontSize: 13, fontWeight: 600, margin: '12px 0 4px' }}>{t('centers.resources.differences')}</h3>
      <DataTable isPlain name="resource-differences" label={t('centers.resources.differences')} columns={columns} rows={rows}
        rowKey={(d) => String(d.index)} empty={null} />
    </>
  )
}

function Changes({ changes }: { changes: CenterResources['changes'] }) {
  const t = useText()
  return (
    <>
      <h3 style={{ fontSize: 13, fontWeight: 600, margin: '12px 0 4px' }}>{t('centers.resources.changes')}</h3>
      <ul style={{ margin: 0, paddingLeft: 18 }}>
        {changes.map((c, i) => <li key={i}><Time at={c.changed_at} /> <ServerText>{c.change}</ServerText></li>)}
      </ul>
    </>
  )
}

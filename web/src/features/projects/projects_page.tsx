import { Button, TextInput } from '@mantine/core'
import { useState } from 'react'
import { Link } from '../../app/router/link'
import { navigate } from '../../app/router/location'
import { pathTo } from '../../app/router/match'
import { useFilters } from '../../app/router/search'
import { useSession } from '../../app/session'
import { useLanguage } from '../../i18n/language'
import { type Project, type ProjectUse, useProjects, useProjectUses } from '../../queries/projects'
import { CutMark } from '../../ui/cut_list'
import { type Column, DataTable } from '../../ui/data_table'
import { formatNumber, nothing } from '../../ui/format'
import { TextFilter } from '../../ui/forms/text_filter'
import { Page } from '../../ui/page'
import { EmptyState, NoneFits, Ready } from '../../ui/states'
import { Time } from '../../ui/zone'
import { ProjectForm } from './project_form'
import { CostQuota, Quota } from './quota'

// The use of each that is shown is asked for.
const projectsAtOnce = 50

/** Projects with settings: what they may take, and what they have taken. */
export function ProjectsPage() {
  const { t } = useLanguage()
  const { may } = useSession()
  const [filters, change] = useFilters(['name'])
  const query = useProjects()
  const [isNew, setNew] = useState(false)
  const [most, setMost] = useState(projectsAtOnce)
  const fitting = (query.data ?? []).filter((p) => p.name.toLowerCase().includes(filters.name.trim().toLowerCase()))
  const projects = fitting.slice(0, most)
  const uses = useProjectUses(projects.map((p) => p.name))
  const columns = useColumns(uses)
  return (
    <Page title={t('projects.title')} actions={may('manage_network') ? <Button variant="filled" onClick={() => setNew(true)}>{t('projects.new')}</Button> : undefined}>
      <Ready query={query}>
        <CutMark list={query} name={t('projects.title')} />
        <DataTable name="projects" label={t('projects.title')} columns={columns} rows={projects} rowKey={(p) => p.name}
          pages={{ hasNextPage: fitting.length > most, isFetchingNextPage: false, fetchNextPage: () => setMost(most + projectsAtOnce) }}
          tools={<><TextFilter label={t('projects.filter')} value={filters.name} onChange={(name) => change({ name })} /><OpenProject /></>}
          empty={query.data?.length ? <NoneFits onClear={() => change({ name: '' })} /> : <EmptyState title={t('projects.none')}>{t('projects.none.hint')}</EmptyState>} />
      </Ready>
      {isNew ? <ProjectForm name={null} project={null} onClose={() => setNew(false)} /> : null}
    </Page>
  )
}

/** Projects without settings are in no list, but have use as well. */
function OpenProject() {
  const { t } = useLanguage()
  const [name, setName] = useState('')
  return (
    <form style={{ display: 'flex', alignItems: 'flex-end', gap: 8 }} onSubmit={(event) => {
      event.preventDefault()
      if (name.trim()) navigate(pathTo('/projects/:name', { name: name.trim() }))
    }}>
      <TextInput label={t('projects.open')} placeholder="default" value={name} autoComplete="off" onChange={(e) => setName(e.currentTarget.value)} />
      <Button type="submit" disabled={!name.trim()}>{t('projects.open.go')}</Button>
    </form>
  )
}

function useColumns(uses: ReadonlyMap<string, ProjectUse>): Column<Project>[] {
  const { t, locale } = useLanguage()
  return [
    { id: 'name', title: t('projects.project'), cell: (p) => <Link href={pathTo('/projects/:name', { name: p.name })}>{p.name}</Link>, csv: (p) => p.name },
    { id: 'share', title: t('projects.share'), isNumber: true, cell: (p) => formatNumber(p.share, locale, 6), csv: (p) => p.share },
    { id: 'load', title: t('projects.load'), isNumber: true, cell: (p) => <span title={t('projects.load.hint')}>{formatNumber(uses.get(p.name)?.fair_share.load, locale, 2)}</span>, csv: (p) => uses.get(p.name)?.fair_share.load },
    { id: 'units', title: t('projects.units'), cell: (p) => <UsedUnits use={uses.get(p.name)} />, csv: (p) => uses.get(p.name)?.units },
    { id: 'max_units', title: t('projects.edit.units'), isHidden: true, isNumber: true, cell: (p) => p.max_units || nothing, csv: (p) => p.max_units },
    { id: 'score_hours', title: t('projects.hours'), cell: (p) => <UsedHours use={uses.get(p.name)} />, csv: (p) => uses.get(p.name)?.score_hours },
    { id: 'cost', title: t('projects.cost'), cell: (p) => <UsedCost use={uses.get(p.name)} />, csv: (p) => uses.get(p.name)?.cost },
    { id: 'centers', title: t('projects.centers'), cell: (p) => p.centers.join(', ') || t('projects.centers.all'), csv: (p) => p.centers.join(' ') },
    { id: 'profile_jobs', title: t('projects.profile'), isHidden: true, cell: (p) => t(p.profile_jobs ? 'ui.yes' : 'ui.no'), csv: (p) => p.profile_jobs },
    { id: 'changed_at', title: t('projects.changed'), isHidden: true, cell: (p) => <Time at={p.changed_at} />, csv: (p) => p.changed_at },
  ]
}

function UsedUnits({ use }: { use: ProjectUse | undefined }) {
  return use ? <Quota used={use.units} most={use.quota.max_units} /> : <>{nothing}</>
}
function UsedHours({ use }: { use: ProjectUse | undefined }) {
  return use ? <Quota used={use.score_hours} most={use.quota.max_score_hours} digits={4} /> : <>{nothing}</>
}
function UsedCost({ use }: { use: ProjectUse | undefined }) {
  return use ? <CostQuota use={use} /> : <>{nothing}</>
}

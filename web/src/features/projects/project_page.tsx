import { Button } from '@mantine/core'
import { useState } from 'react'
import { ApiError } from '../../api/problem'
import { Link } from '../../app/router/link'
import { pathTo } from '../../app/router/match'
import { useSession } from '../../app/session'
import { useLanguage } from '../../i18n/language'
import { type Project, type ProjectUse, useProject, useProjectUse } from '../../queries/projects'
import { type Column, DataTable } from '../../ui/data_table'
import { formatNumber, formatShare, nothing } from '../../ui/format'
import { Facts, Page, Section } from '../../ui/page'
import { Ready } from '../../ui/states'
import { Time } from '../../ui/zone'
import { Members } from './members'
import { ProjectForm } from './project_form'
import { CostQuota, Quota } from './quota'
import { UseOverTime } from './use_over_time'

type ByUnit = ProjectUse['unit_types'][number]

export function ProjectPage({ params }: { params: Record<string, string> }) {
  const { t } = useLanguage()
  const { may, leads } = useSession()
  const name = params.name ?? ''
  const query = useProject(name)
  const use = useProjectUse(name)
  // A project without settings is none that is missing: it has use all the same.
  const hasNone = query.error instanceof ApiError && query.error.status === 404
  const [isEditing, setEditing] = useState(false)
  const mayEdit = may('manage_network') || may('manage_metering')
  const encoded = encodeURIComponent(name)
  return (
    <Page title={name} actions={mayEdit && (query.data || hasNone) ? <Button onClick={() => setEditing(true)}>{t('projects.edit')}</Button> : undefined}>
      <Section title={t('projects.use')} side={<span className="dim">{t('projects.use.month', { month: use.data?.month ?? nothing })}</span>}>
        <Ready query={use}>{use.data ? <Use use={use.data} /> : null}</Ready>
      </Section>
      <Section title={t('projects.settings')}>
        {hasNone ? <p className="dim">{t('projects.settings.none')}</p> : <Ready query={query}>{query.data ? <Settings project={query.data} /> : null}</Ready>}
      </Section>
      {may('read_all_jobs') || leads(name) ? <Members project={name} /> : null}
      {may('read_billing') || leads(name) ? <Section title={t('projects.time')} side={<span className="dim">{t('projects.time.days')}</span>}><UseOverTime project={name} /></Section> : null}
      <p style={{ display: 'flex', flexWrap: 'wrap', gap: 16 }}>
        <Link href={`/jobs?project=${encoded}`}>{t('projects.more.jobs')}</Link>
        {may('read_billing') ? (
          <>
            <Link href={`/billing?project=${encoded}`}>{t('projects.more.usage')}</Link>
            <Link href={`/billing?tab=statements&name=${encoded}${use.data ? `&period=${use.data.month}` : ''}`}>{t('projects.more.statement')}</Link>
          </>
        ) : null}
        {!may('read_billing') && leads(name) && use.data
          ? <a href={`/api/v1/statements?project=${encoded}&period=${use.data.month}&format=html`} target="_blank" rel="noreferrer">{t('projects.more.statement')}</a> : null}
      </p>
      {isEditing ? <ProjectForm name={name} project={query.data ?? null} onClose={() => setEditing(false)} /> : null}
    </Page>
  )
}

function Use({ use }: { use: ProjectUse }) {
  const { t, locale } = useLanguage()
  const fair = use.fair_share
  const columns: Column<ByUnit>[] = [
    { id: 'unit_type', title: t('projects.unit'), cell: (u) => <Link href={pathTo('/unit-types/:id', { id: u.unit_type_id })}>{u.center} / {u.unit_type}</Link>, csv: (u) => `${u.center}/${u.unit_type}` },
    { id: 'units', title: t('projects.units'), isNumber: true, cell: (u) => u.units, csv: (u) => u.units },
    { id: 'unit_hours', title: t('projects.unit.hours'), isNumber: true, cell: (u) => formatNumber(u.unit_hours, locale, 4), csv: (u) => u.unit_hours },
    { id: 'score_hours', title: t('projects.score.hours'), isNumber: true, cell: (u) => formatNumber(u.score_hours, locale, 4), csv: (u) => u.score_hours },
    { id: 'cost', title: t('projects.cost'), isNumber: true, cell: (u) => (use.currency ? `${u.cost} ${use.currency}` : u.cost), csv: (u) => u.cost },
  ]
  return (
    <>
      <Facts items={[
        [t('projects.units'), <Quota key="u" used={use.units} most={use.quota.max_units} />],
        [t('projects.hours'), <Quota key="h" used={use.score_hours} most={use.quota.max_score_hours} digits={4} />],
        [t('projects.cost'), <CostQuota key="c" use={use} />],
        [t('projects.unit.hours'), formatNumber(use.unit_hours, locale, 4)],
        [t('projects.share'), formatNumber(fair.share, locale, 6)],
        [t('projects.load'), <>{formatNumber(fair.load, locale, 2)} <span className="dim">({t('projects.load.hint')})</span></>],
        [t('projects.fair.dominant'), formatShare(fair.dominant_share)],
        [t('projects.fair.used'), formatShare(fair.used_share)],
      ]} />
      {use.unit_types.length === 0 ? <p className="dim">{t('projects.by.unit.none')}</p>
        : <DataTable isPlain name="project-use" label={t('projects.by.unit')} columns={columns} rows={use.unit_types} rowKey={(u) => u.unit_type_id} />}
    </>
  )
}

function Settings({ project }: { project: Project }) {
  const { t, locale } = useLanguage()
  return (
    <Facts items={[
      [t('projects.share'), formatNumber(project.share, locale, 6)],
      [t('projects.centers'), project.centers.join(', ') || t('projects.centers.all')],
      [t('projects.profile'), t(project.profile_jobs ? 'ui.yes' : 'ui.no')],
      [t('projects.changed'), <Time key="t" at={project.changed_at} />],
      [t('projects.changed.by'), <code key="b">{project.changed_by}</code>],
    ]} />
  )
}

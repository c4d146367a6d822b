import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useState } from 'react'
import { type ProjectRole, projectRoles } from '../../api/session'
import { useSession } from '../../app/session'
import { useLanguage } from '../../i18n/language'
import { type ProjectMember, useProjectMembers, usePutMember, useRemoveMember } from '../../queries/projects'
import { ConfirmByTyping } from '../../ui/confirm_by_typing'
import { type Column, DataTable } from '../../ui/data_table'
import { formatNumber } from '../../ui/format'
import { useFieldErrors } from '../../ui/forms/field_errors'
import { FormDialog } from '../../ui/forms/form_dialog'
import { Section } from '../../ui/page'
import { Ready } from '../../ui/states'
import { StatePill } from '../../ui/state_pill'
import { Time } from '../../ui/zone'

/** Who may do what in a project. Its leads let viewers and submitters in; the rest is for who runs the network. */
export function Members({ project }: { project: string }) {
  const { t, locale } = useLanguage()
  const { may, leads } = useSession()
  const query = useProjectMembers(project, true)
  const remove = useRemoveMember()
  const [editing, setEditing] = useState<ProjectMember | 'new' | null>(null)
  const [removing, setRemoving] = useState<ProjectMember | null>(null)
  const members = query.data ?? []
  const isAdmin = may('manage_network')
  const mayChange = isAdmin || leads(project)
  const submitters = members.filter((m) => m.role !== 'viewer')
  const columns: Column<ProjectMember>[] = [
    { id: 'name', title: t('projects.members.token'), cell: (m) => m.name, csv: (m) => m.name },
    { id: 'token_id', title: t('ui.id'), cell: (m) => <code>{m.token_id}</code>, csv: (m) => m.token_id },
    { id: 'role', title: t('projects.members.role'), cell: (m) => t(`projects.role.${m.role}`), csv: (m) => m.role },
    { id: 'usable', title: t('projects.members.usable'), cell: (m) => <StatePill tone={m.usable ? 'good' : 'idle'}>{m.usable ? t('ui.yes') : t('projects.members.unusable')}</StatePill>, csv: (m) => m.usable },
    { id: 'reserve', title: t('projects.members.reserve'), isNumber: true, cell: (m) => formatNumber(m.reserve_unit_hours, locale), csv: (m) => m.reserve_unit_hours },
    { id: 'added_at', title: t('projects.members.added'), cell: (m) => <Time at={m.added_at} />, csv: (m) => m.added_at },
    { id: 'added_by', title: t('projects.members.by'), cell: (m) => <code>{m.added_by}</code>, csv: (m) => m.added_by },
    ...(mayChange ? [{ id: 'actions', title: t('form.actions'), cell: (m: ProjectMember) => (!isAdmin && m.role === 'lead' ? null : (
      <Button.Group>
        <Button size="compact-xs" aria-label={`${t('projects.members.change')} ${m.name}`} onClick={() => setEditing(m)}>{t('projects.members.change')}</Button>
        <Button size="compact-xs" aria-label={`${t('projects.members.remove')} ${m.name}`} onClick={() => {
          remove.reset()
          setRemoving(m)
        }}>{t('projects.members.remove')}</Button>
      </Button.Group>
    )) }] : []),
  ]
  const isLast = submitters.length === 1 && removing?.role !== 'viewer'
  return (
    <Section title={t('projects.members')} side={mayChange ? <Button size="compact-xs" onClick={() => setEditing('new')}>{t('projects.members.add')}</Button> : undefined}>
      <Ready query={query}>
        {members.length === 0 ? <p className="dim">{t('projects.members.none')}</p>
          : <DataTable isPlain name="project-members" label={t('projects.members')} columns={columns} rows={members} rowKey={(m) => m.token_id} />}
      </Ready>
      {editing ? <MemberForm project={project} member={editing === 'new' ? null : editing} isFirst={submitters.length === 0} onClose={() => setEditing(null)} /> : null}
      {removing ? (
        <ConfirmByTyping opened title={t('projects.members.remove.title')} target={removing.name} action={t('projects.members.remove.do')}
          error={remove.error} busy={remove.isPending} onClose={() => setRemoving(null)}
          onConfirm={() => remove.mutate({ name: project, token: removing.token_id, open: isLast }, { onSuccess: () => setRemoving(null) })}>
          <p>{t(removing.role === 'viewer' ? 'projects.members.remove.viewer' : 'projects.members.remove.what', { member: removing.name, project })}</p>
          {isLast ? <p><strong>{t('projects.members.remove.last', { project })}</strong></p> : null}
        </ConfirmByTyping>
      ) : null}
    </Section>
  )
}

function MemberForm({ project, member, isFirst, onClose }: { project: string; member: ProjectMember | null; isFirst: boolean; onClose: () => void }) {
  const { t } = useLanguage()
  const { may } = useSession()
  const put = usePutMember()
  const [token, setToken] = useState(member?.token_id ?? '')
  const [role, setRole] = useState<ProjectRole>(member?.role ?? 'submitter')
  const [reserve, setReserve] = useState(String(member?.reserve_unit_hours ?? 0))
  const isAdmin = may('manage_network')
  const mayReserve = isAdmin && role !== 'viewer'
  const isNumber = !mayReserve || /^\d+(\.\d+)?$/.test(reserve.trim())
  const errors = useFieldErrors(put.error)
  const roles = projectRoles.filter((one) => isAdmin || one !== 'lead').map((one) => ({ value: one, label: t(`projects.role.${one}`) }))
  return (
    <FormDialog title={t('projects.members.add.title', { name: project })} action={member ? t('form.save') : t('projects.members.add.do')} error={put.error} busy={put.isPending}
      canSubmit={token.trim() !== '' && isNumber} onClose={onClose}
      onSubmit={() => put.mutate({ name: project, token: token.trim(), role, ...(mayReserve ? { reserve_unit_hours: Number(reserve) } : {}) }, { onSuccess: onClose })}>
      {member ? <p>{member.name} <code>{member.token_id}</code></p>
        : <TextInput label={t('projects.members.token')} description={t('projects.members.token.hint')} required data-autofocus autoComplete="off" value={token} error={errors.token} onChange={(e) => setToken(e.currentTarget.value)} />}
      <NativeSelect data-autofocus={member !== null || undefined} label={t('projects.members.role')} description={t(`projects.role.${role}.hint`)} data={roles} value={role} error={errors.role}
        onChange={(e) => setRole(e.currentTarget.value as ProjectRole)} />
      {mayReserve ? (
        <TextInput label={t('projects.members.reserve')} description={t('projects.members.reserve.hint')} inputMode="decimal" value={reserve}
          error={isNumber ? errors.reserve_unit_hours : t('projects.edit.wrong')} onChange={(e) => setReserve(e.currentTarget.value)} />
      ) : null}
      {isFirst && role !== 'viewer' ? <p className="dim">{t('projects.members.first')}</p> : null}
    </FormDialog>
  )
}

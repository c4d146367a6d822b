import { Checkbox, TextInput } from '@mantine/core'
import { useState } from 'react'
import { navigate } from '../../app/router/location'
import { pathTo } from '../../app/router/match'
import { useSession } from '../../app/session'
import { useText } from '../../i18n/language'
import { useCenters } from '../../queries/centers'
import { type Project, useChangeProject } from '../../queries/projects'
import { cutOption } from '../../ui/cut_list'
import { useFieldErrors } from '../../ui/forms/field_errors'
import { FormDialog } from '../../ui/forms/form_dialog'
import { changeOf, typedOf, wrongFields } from './settings_change'

/** Changes a project's settings, or gives a project (whose name is asked for when it is null) its first ones. */
export function ProjectForm({ name, project, onClose }: { name: string | null; project: Project | null; onClose: () => void }) {
  const t = useText()
  const { may } = useSession()
  const centers = useCenters()
  const save = useChangeProject()
  const [before] = useState(() => typedOf(project))
  const [version] = useState(project?.version ?? null)
  const [typed, setTyped] = useState(before)
  const [newName, setNewName] = useState('')
  const set = (change: Partial<typeof typed>) => setTyped({ ...typed, ...change })
  const wrong = wrongFields(typed)
  const errors = useFieldErrors(save.error)
  const errorOf = (field: (typeof wrong)[number]) => (wrong.includes(field) ? t('projects.edit.wrong') : errors[field])
  // The server names each center of the list by its place; here they are one field.
  const centersError = Object.entries(errors).filter(([field]) => /^centers\b/.test(field)).map(([, detail]) => detail).join(' ') || undefined
  const change = changeOf(before, typed)
  // A project that is new takes its settings as they stand, even if they are the defaults.
  const sent = project === null && Object.keys(change).length === 0 ? { share: 1 } : change
  const target = name ?? newName.trim()
  const isAdmin = may('manage_network')
  return (
    <FormDialog title={name === null ? t('projects.new.title') : t('projects.edit.of', { name })} action={t('form.save')} error={save.error} busy={save.isPending}
      canSubmit={target !== '' && wrong.length === 0 && (project === null || Object.keys(change).length > 0)} onClose={onClose}
      onSubmit={() => save.mutate({ name: target, version, change: sent }, { onSuccess: () => {
        onClose()
        if (name === null) navigate(pathTo('/projects/:name', { name: target }))
      } })}>
      {name === null ? <TextInput label={t('projects.new.name')} required data-autofocus value={newName} autoComplete="off" onChange={(e) => setNewName(e.currentTarget.value)} /> : null}
      {isAdmin ? (
        <>
          <TextInput data-autofocus={name !== null || undefined} label={t('projects.share')} description={t('projects.share.hint')} inputMode="decimal" value={typed.share} error={errorOf('share')} onChange={(e) => set({ share: e.currentTarget.value })} />
          <TextInput label={t('projects.edit.units')} description={t('projects.edit.zero')} inputMode="numeric" value={typed.max_units} error={errorOf('max_units')} onChange={(e) => set({ max_units: e.currentTarget.value })} />
          <TextInput label={t('projects.edit.hours')} description={`${t('projects.edit.hours.hint')}. ${t('projects.edit.zero')}`} inputMode="decimal" value={typed.max_score_hours} error={errorOf('max_score_hours')} onChange={(e) => set({ max_score_hours: e.currentTarget.value })} />
          <TextInput label={t('projects.edit.cost')} description={`${t('projects.edit.cost.hint')}. ${t('projects.edit.zero')}`} inputMode="decimal" value={typed.max_cost} error={errorOf('max_cost')} onChange={(e) => set({ max_cost: e.currentTarget.value })} />
          <TextInput label={t('projects.edit.centers')} value={typed.centers} error={centersError} onChange={(e) => set({ centers: e.currentTarget.value })}
            description={t('projects.edit.centers.hint', { names: [...(centers.data ?? []).map((c) => c.name), ...cutOption(t, centers).map((c) => c.label)].join(', ') || t('ui.none') })} />
        </>
      ) : null}
      <Checkbox label={t('projects.edit.profile')} checked={typed.profile_jobs} onChange={(e) => set({ profile_jobs: e.currentTarget.checked })} />
      {project !== null && Object.keys(change).length === 0 ? <p className="dim">{t('projects.edit.nothing')}</p> : null}
    </FormDialog>
  )
}

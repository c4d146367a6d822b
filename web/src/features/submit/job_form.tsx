import { Checkbox, NativeSelect, NumberInput, SegmentedControl, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useText } from '../../i18n/language'
import type { JobSpec } from '../../queries/jobs'
import { useUnitTypes } from '../../queries/unit_types'
import { cutOption } from '../../ui/cut_list'
import { MomentInput, toIso, useTyped } from '../../ui/forms/moment_input'
import { useZone } from '../../ui/zone'
import { changeJob } from './job_text'
import { OperatorRows } from './operator_rows'
import styles from './submit.module.css'
import { joinWords, splitWords } from './words'

interface Props {
  spec: JobSpec
  errors: Record<string, string>
  /** That of the price book, where it is known. */
  currency?: string | undefined
  onChange: (spec: JobSpec) => void
}

/** What most jobs need; all else is in the text. */
export function JobForm({ spec, errors, currency, onChange }: Props) {
  const t = useText()
  const set = (change: Partial<JobSpec>) => onChange(changeJob(spec, change))
  return (
    <div className={styles.form}>
      <h2>{t('submit.section.what')}</h2>
      <div className={styles.row}>
        <TextInput label={t('submit.name')} value={spec.name ?? ''} error={errors.name} onChange={(e) => set({ name: e.currentTarget.value })} />
        <TextInput label={t('submit.project')} value={spec.project ?? ''} placeholder="default" error={errors.project} onChange={(e) => set({ project: e.currentTarget.value })} />
        <TextInput label={t('submit.type')} value={spec.type ?? ''} error={errors.type} placeholder={t('submit.type.hint')} onChange={(e) => set({ type: e.currentTarget.value })} />
      </div>
      <Program spec={spec} errors={errors} onChange={onChange} />
      <Place spec={spec} errors={errors} currency={currency} onChange={onChange} />
      <h2>{t('submit.section.operators')}</h2>
      <p className="dim">{t('submit.operators.hint')}</p>
      <OperatorRows operators={spec.operators ?? []} errors={errors} onChange={(operators) => set({ operators })} />
      <Checkbox label={t('submit.profile')} checked={spec.profile ?? false} onChange={(e) => set({ profile: e.currentTarget.checked || undefined })} />
      <Checkbox label={t('submit.requeue')} checked={spec.requeue ?? false} onChange={(e) => set({ requeue: e.currentTarget.checked || undefined })} />
    </div>
  )
}

/** By when the job must end, and what it may cost: both hard. */
function Limits({ spec, errors, currency, onChange }: Props) {
  const t = useText()
  const { zone } = useZone()
  const typed = useTyped()
  const budget = spec.budget
  const set = (amount: string, code: string) => onChange(changeJob(spec, { budget: amount ? { amount, currency: code } : undefined }))
  const code = budget?.currency ?? currency ?? ''
  return (
    <div className={styles.row}>
      <MomentInput label={t('submit.deadline')} value={typed(spec.deadline)} error={errors.deadline}
        onChange={(value) => onChange(changeJob(spec, { deadline: toIso(value, zone) ?? undefined }))} />
      <TextInput label={t('submit.budget')} value={budget?.amount ?? ''} error={errors.budget ?? errors['budget.amount']} inputMode="decimal"
        onChange={(e) => set(e.currentTarget.value.trim(), code)} />
      <TextInput label={t('submit.currency')} value={code} error={errors['budget.currency']} maxLength={3} disabled={!budget} autoComplete="off" spellCheck={false}
        onChange={(e) => set(budget?.amount ?? '', e.currentTarget.value.toUpperCase())} />
    </div>
  )
}

function Program({ spec, errors, onChange }: Props) {
  const t = useText()
  const way = spec.script === undefined ? 'command' : 'script'
  // What is typed stays as typed, quotes and all, for as long as it means the same words.
  const [typed, setTyped] = useState(() => joinWords(spec.command ?? []))
  const words = spec.command ?? []
  const shown = JSON.stringify(splitWords(typed)) === JSON.stringify(words) ? typed : joinWords(words)
  return (
    <>
      <SegmentedControl aria-label={t('submit.run')} value={way} className={styles.narrow ?? ''}
        data={[{ value: 'command', label: t('submit.run.command') }, { value: 'script', label: t('submit.run.script') }]}
        onChange={(next) => {
          const rest: JobSpec = { ...spec, command: undefined, script: undefined }
          onChange(changeJob(next === 'script' ? { ...rest, script: '#!/bin/sh\n' } : { ...rest, command: ['sh', '-c', 'echo hello'] },
            next === 'script' ? { command: undefined } : { script: undefined }))
        }} />
      {way === 'command' ? (
        <TextInput label={t('submit.command')} description={t('submit.command.hint')} classNames={{ input: styles.code ?? '' }} value={shown}
          error={errors.command} spellCheck={false} onChange={(e) => {
            setTyped(e.currentTarget.value)
            onChange({ ...spec, command: splitWords(e.currentTarget.value) })
          }} />
      ) : (
        <Textarea label={t('submit.script')} classNames={{ input: styles.code ?? '' }} autosize minRows={4} maxRows={16} spellCheck={false}
          value={spec.script ?? ''} error={errors.script} onChange={(e) => onChange({ ...spec, script: e.currentTarget.value })} />
      )}
    </>
  )
}

function Place({ spec, errors, currency, onChange }: Props) {
  const t = useText()
  const units = spec.units ?? {}
  const types = useUnitTypes()
  const active = (types.data ?? []).filter((unit) => unit.active)
  const names = [...new Set(active.map((unit) => unit.name))].sort()
  const centers = [...new Set(active.map((unit) => unit.center))].sort()
  const set = (change: Partial<JobSpec>) => onChange(changeJob(spec, change))
  const setUnits = (change: Partial<NonNullable<JobSpec['units']>>) =>
    set({ units: changeJob(units as JobSpec, change as Partial<JobSpec>) as NonNullable<JobSpec['units']> })
  const withCurrent = (list: string[], current: string | undefined) => (current && !list.includes(current) ? [...list, current] : list)
  const prefer = typeof spec.prefer === 'object' ? 'weights' : spec.prefer ?? 'fastest'
  return (
    <>
      <h2>{t('submit.section.where')}</h2>
      <div className={styles.row}>
        <NativeSelect label={t('submit.unit')} value={units.type === 'any' ? '' : units.type ?? ''} error={errors['units.type']}
          data={[{ value: '', label: t('ui.any') }, ...withCurrent(names, units.type === 'any' ? undefined : units.type), ...cutOption(t, types)]}
          onChange={(e) => setUnits({ type: e.currentTarget.value })} />
        <NativeSelect label={t('submit.center')} value={units.center ?? ''} error={errors['units.center']}
          data={[{ value: '', label: t('ui.any') }, ...withCurrent(centers, units.center), ...cutOption(t, types)]} onChange={(e) => setUnits({ center: e.currentTarget.value })} />
        <TextInput label={t('submit.count')} value={units.count === undefined ? '' : String(units.count)} placeholder={t('submit.count.hint')} error={errors['units.count']}
          inputMode="numeric" onChange={(e) => {
            const value = e.currentTarget.value.trim()
            setUnits({ count: /^\d+$/.test(value) ? Number(value) : (value as 'auto') || undefined })
          }} />
      </div>
      <div className={styles.row}>
        <NativeSelect label={t('submit.prefer')} value={prefer} error={errors.prefer}
          data={[...(['fastest', 'cheapest', 'greenest'] as const).map((value) => ({ value, label: t(`submit.prefer.${value}`) })),
            ...(prefer === 'weights' ? [{ value: 'weights', label: t('submit.prefer.weights') }] : [])]}
          onChange={(e) => set({ prefer: e.currentTarget.value === 'fastest' ? undefined : (e.currentTarget.value as 'cheapest' | 'greenest') })} />
        <NumberInput label={t('submit.wall')} value={spec.wall_limit_s ?? ''} min={1} max={31536000} allowDecimal={false} error={errors.wall_limit_s}
          hideControls onChange={(value) => set({ wall_limit_s: value === '' ? undefined : Number(value) })} />
        <NumberInput label={t('submit.priority')} value={spec.priority ?? ''} min={-100} max={100} allowDecimal={false} error={errors.priority} placeholder="0"
          hideControls onChange={(value) => set({ priority: value === '' ? undefined : Number(value) })} />
      </div>
      <Limits spec={spec} errors={errors} currency={currency} onChange={onChange} />
      <Checkbox label={t('submit.exclusive')} checked={units.sharing === 'exclusive'} error={errors['units.sharing']}
        onChange={(e) => setUnits({ sharing: e.currentTarget.checked ? 'exclusive' : undefined })} />
    </>
  )
}

import { Button, NativeSelect, TextInput } from '@mantine/core'
import { type FormEvent, useMemo, useState } from 'react'
import { useFilters } from '../../app/router/search'
import { useText } from '../../i18n/language'
import { useCenters } from '../../queries/centers'
import { type SimulationOrder, useSimulation } from '../../queries/simulations'
import { CutMark } from '../../ui/cut_list'
import { Page, Section } from '../../ui/page'
import { EmptyState, ErrorState, Ready } from '../../ui/states'
import measuring from '../measuring/measuring.module.css'
import { ChangeRows } from './change_rows'
import { type ChangeRow, type Checked, choiceNames, type Choices, choicesOf, type Complaint, firstRow, policies, rowsOf, rowsText, toOrder } from './choices'
import styles from './simulation.module.css'
import { SimulationResult } from './simulation_result'

function ChoiceFields({ choices, wrong, onChange }: { choices: Choices; wrong: Checked['wrong']; onChange: (change: Partial<Choices>) => void }) {
  const t = useText()
  const say = (complaint: Complaint | undefined) => (complaint ? t(complaint.key, complaint.values) : '')
  return (
    <div className={measuring.form} role="group" aria-label={t('simulation.period')}>
      {(['days', 'jobs', 'seed'] as const).map((name) => (
        <TextInput key={name} label={t(`simulation.${name}`)} inputMode="decimal" value={choices[name]} error={say(wrong[name])} onChange={(e) => onChange({ [name]: e.currentTarget.value })} />
      ))}
      {(['policy', 'policy_after'] as const).map((name) => (
        <NativeSelect key={name} label={t(`simulation.${name}`)} value={choices[name]} onChange={(e) => onChange({ [name]: e.currentTarget.value })}
          data={policies.map((policy) => ({ value: policy, label: t(`simulation.policy.${policy}`) }))} />
      ))}
    </div>
  )
}

function Answer({ asked, isOther }: { asked: SimulationOrder | null; isOther: boolean }) {
  const t = useText()
  const query = useSimulation(asked)
  if (asked === null) return <EmptyState title={t('simulation.empty')}>{t('simulation.empty.how')}</EmptyState>
  if (query.isFetching) return <p role="status" className="dim" data-loading>{t('simulation.running')}</p>
  if (query.isError) return <ErrorState error={query.error} retry={() => void query.refetch()} />
  return (
    <>
      {isOther ? <p role="status" className={measuring.warn}>{t('simulation.other')}</p> : null}
      {query.data ? <SimulationResult simulation={query.data} /> : null}
    </>
  )
}

/** `centers`: names of those that have units. */
function Question({ centers }: { centers: readonly string[] }) {
  const t = useText()
  const [raw, change] = useFilters(choiceNames)
  const [choices, setChoices] = useState<Choices>(() => choicesOf(raw))
  const [rows, setRows] = useState<readonly ChangeRow[]>(() => (raw.changes ? rowsOf(raw.changes) : [firstRow]))
  const [asked, setAsked] = useState<SimulationOrder | null>(null)
  const [isTried, setTried] = useState(false)
  const checked = toOrder(choices, rows)
  const shown: Pick<Checked, 'rows' | 'wrong'> = isTried ? checked : { rows: [], wrong: {} }
  function set(part: Partial<Choices>) {
    setChoices({ ...choices, ...part })
    change(part)
  }
  function setChanges(next: readonly ChangeRow[]) {
    setRows(next)
    change({ changes: rowsText(next) })
  }
  function submit(event: FormEvent) {
    event.preventDefault()
    setTried(true)
    if (checked.order) setAsked(checked.order)
  }
  return (
    <>
      <form onSubmit={submit} aria-label={t('simulation.form')}>
        <Section title={t('simulation.changes')}>
          <ChangeRows rows={rows} wrong={shown.rows} centers={centers} onChange={setChanges}
            complaint={shown.wrong.changes ? t(shown.wrong.changes.key, shown.wrong.changes.values) : ''} />
        </Section>
        <Section title={t('simulation.period')}>
          <ChoiceFields choices={choices} wrong={shown.wrong} onChange={set} />
          <div className={styles.run}><Button type="submit" variant="filled">{t('simulation.run')}</Button></div>
        </Section>
      </form>
      <Answer asked={asked} isOther={JSON.stringify(asked) !== JSON.stringify(checked.order)} />
    </>
  )
}

/** What a change of the network would do. The choices stand in the address; it is simulated only when that is asked for. */
export function SimulationPage() {
  const t = useText()
  const centers = useCenters()
  const names = useMemo(() => (centers.data ?? []).filter((center) => center.unit_type_count > 0).map((center) => center.name), [centers.data])
  return (
    <Page title={t('simulation.title')}>
      <p className={measuring.note}>{t('simulation.intro')}</p>
      <Ready query={centers}>
        <CutMark list={centers} name={t('centers.title')} />
        {names.length === 0 ? <EmptyState title={t('simulation.empty.network')} /> : <Question centers={names} />}
      </Ready>
    </Page>
  )
}

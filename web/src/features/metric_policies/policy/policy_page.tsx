import { Button, NativeSelect } from '@mantine/core'
import { useState } from 'react'
import { Link } from '../../../app/router/link'
import type { PathParams } from '../../../app/router/match'
import { useFilters } from '../../../app/router/search'
import { useSession } from '../../../app/session'
import { useText } from '../../../i18n/language'
import { type MetricPolicy, nameOf, useActivatePolicy, useMetricPolicies, useTryPolicy } from '../../../queries/metric_policies'
import { ConfirmByTyping } from '../../../ui/confirm_by_typing'
import { saveFile } from '../../../ui/csv'
import { DiffTable } from '../../../ui/diff_table'
import { Facts, Page, Section } from '../../../ui/page'
import { StatePill } from '../../../ui/state_pill'
import { EmptyState, ErrorState, Ready } from '../../../ui/states'
import { Time } from '../../../ui/zone'
import measuring from '../../measuring/measuring.module.css'
import { otherOf, policyDifferences } from '../compare'
import { PolicyEditor } from '../policy_editor'
import { ComparedUnitTypes, Trial } from '../trial'
import { ActivationPreview } from './activation_preview'
import { PolicyContent } from './policy_content'

export function PolicyPage({ params }: { params: PathParams }) {
  const t = useText()
  const [filters, change] = useFilters(['version', 'with'])
  const query = useMetricPolicies()
  const versions = (query.data ?? []).filter((policy) => policy.id === params.id).sort((a, b) => b.version - a.version)
  const policy = versions.find((one) => String(one.version) === filters.version) ?? versions[0]
  return (
    <Page title={policy ? nameOf(policy) : params.id ?? ''} mark={policy?.active ? <StatePill tone="good">{t('policies.state.active')}</StatePill> : undefined}
      actions={policy ? <Link href={`/scores?policy=${encodeURIComponent(nameOf(policy))}`}>{t('policies.scores')}</Link> : undefined}>
      <Ready query={query}>
        {policy ? (
          <>
            {versions.length > 1 ? (
              <div className={measuring.tools}>
                <NativeSelect label={t('measure.version')} value={String(policy.version)} onChange={(e) => change({ version: e.currentTarget.value })}
                  data={versions.map((one) => String(one.version))} />
              </div>) : null}
            <Acts key={nameOf(policy)} policy={policy} />
            <PolicyContent policy={policy} />
            <Differences policy={policy} all={query.data ?? []} wanted={filters.with} onWant={(name) => change({ with: name })} />
          </>
        ) : <EmptyState title={t('ui.error.404')} action={<Link href="/metric-policies">{t('policies.title')}</Link>} />}
      </Ready>
    </Page>
  )
}

/** Trying a version, making the next one, and putting this one into force. */
function Acts({ policy }: { policy: MetricPolicy }) {
  const t = useText()
  const { may } = useSession()
  const [isEditing, setEditing] = useState(false)
  const [isActivating, setActivating] = useState(false)
  const attempt = useTryPolicy()
  const activate = useActivatePolicy()
  const document = JSON.stringify(policy.document, null, 2)
  const done = activate.data
  return (
    <>
      <Section title={t('measure.details')} side={
        <span className={measuring.inline}>
          <Button onClick={() => saveFile(`${policy.id}-${policy.version}.json`, document, 'application/json')}>{t('policies.document.save')}</Button>
          {may('manage_metering') ? (
            <>
              <Button onClick={() => setEditing(true)}>{t('policies.next')}</Button>
              {policy.active ? null : (
                <>
                  <Button loading={attempt.isPending} onClick={() => attempt.mutate({ policy: nameOf(policy) })}>{t('policies.try.stored')}</Button>
                  <Button onClick={() => {
                    activate.reset()
                    attempt.mutate({ policy: nameOf(policy) })
                    setActivating(true)
                  }}>{t('policies.activate')}</Button>
                </>)}
            </>) : null}
        </span>
      }>
        {policy.document.description ? <p style={{ maxWidth: '90ch', marginTop: 0 }}>{policy.document.description}</p> : null}
        <Facts items={[
          [t('policies.kind'), t(`policies.kind.${policy.document.kind}`)],
          [t('measure.created'), <Time key="t" at={policy.created_at} />],
          [t('measure.by'), <code key="b">{policy.created_by}</code>],
        ]} />
      </Section>
      {done ? (
        <Section title={t('policies.activated', { policy: nameOf(done), old: done.replaced_policy })}><ComparedUnitTypes items={done.unit_types} /></Section>) : null}
      {attempt.error ? <ErrorState error={attempt.error} /> : null}
      {attempt.data ? <Trial trial={attempt.data} /> : null}
      {isEditing ? <PolicyEditor start={document} onClose={() => setEditing(false)} /> : null}
      <ConfirmByTyping opened={isActivating} title={t('policies.activate.title', { policy: nameOf(policy) })} target={nameOf(policy)} action={t('policies.activate.do')}
        error={activate.error} busy={activate.isPending} onConfirm={() => activate.mutate({ id: policy.id, version: policy.version }, { onSuccess: () => setActivating(false) })}
        onClose={() => setActivating(false)}>
        <p>{t('policies.activate.text')}</p>
        <ActivationPreview trial={attempt.data} error={attempt.error} />
      </ConfirmByTyping>
    </>
  )
}

/** In what it differs from another policy: until one is chosen, from the version before it, or from the active one. */
function Differences({ policy, all, wanted, onWant }: { policy: MetricPolicy; all: readonly MetricPolicy[]; wanted: string; onWant: (name: string) => void }) {
  const t = useText()
  const other = otherOf(policy, all, wanted)
  if (!other) return null
  const differences = policyDifferences(other, policy)
  const label = t('policies.diff.of', { a: nameOf(other), b: nameOf(policy) })
  return (
    <Section title={t('policies.diff')}>
      <div className={measuring.tools}>
        <NativeSelect label={t('policies.diff.with')} value={nameOf(other)} onChange={(e) => onWant(e.currentTarget.value)}
          data={all.filter((one) => one !== policy).map((one) => ({ value: nameOf(one), label: one.active ? t('scores.policy.active', { policy: nameOf(one) }) : nameOf(one) }))} />
      </div>
      {differences.length === 0 ? <p className="dim">{t('policies.diff.none')}</p>
        : <DiffTable name="policy-diff" label={label} differences={differences} before={nameOf(other)} after={nameOf(policy)} />}
    </Section>
  )
}

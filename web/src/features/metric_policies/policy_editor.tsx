import { Button, Group, Modal } from '@mantine/core'
import { useState } from 'react'
import { navigate } from '../../app/router/location'
import { pathTo } from '../../app/router/match'
import { useText } from '../../i18n/language'
import { type MetricPolicyDocument, useAddPolicy, useTryPolicy } from '../../queries/metric_policies'
import { JsonField } from '../../ui/json_field'
import { parseObject } from '../../ui/json_text'
import { ErrorState } from '../../ui/states'
import { Trial } from './trial'

/** A policy's document: tried on what was measured, then uploaded. What is in it the server checks, all at once. */
export function PolicyEditor({ start, onClose }: { start: string; onClose: () => void }) {
  const t = useText()
  const [text, setText] = useState(start)
  const add = useAddPolicy()
  const attempt = useTryPolicy()
  const document = parseObject(text) as MetricPolicyDocument | null
  const error = add.error ?? attempt.error
  // What was tried, or refused, is another document once something is changed in it.
  function change(next: string) {
    add.reset()
    attempt.reset()
    setText(next)
  }
  return (
    <Modal opened onClose={onClose} size="xl" title={t('policies.add.title')} closeButtonProps={{ 'aria-label': t('ui.close') }}>
      <JsonField label="JSON" hint={t('policies.add.hint')} value={text} onChange={change} rows={16}
        {...(text.trim() && !document ? { error: t('measure.json.object') } : {})} />
      {error ? <div style={{ marginTop: 12 }}><ErrorState error={error} /></div> : null}
      {attempt.data ? <div style={{ marginTop: 12 }}><Trial trial={attempt.data} /></div> : null}
      <Group mt="md" gap="xs" justify="flex-end">
        <Button onClick={onClose}>{t('ui.cancel')}</Button>
        <Button disabled={!document} loading={attempt.isPending} onClick={() => {
          add.reset()
          if (document) attempt.mutate({ document })
        }}>{t('policies.try')}</Button>
        <Button variant="filled" disabled={!document} loading={add.isPending} onClick={() => {
          attempt.reset()
          if (document) add.mutate(document, { onSuccess: (made) => {
            onClose()
            navigate(`${pathTo('/metric-policies/:id', { id: made.id })}?version=${made.version}`)
          } })
        }}>{t('policies.add.do')}</Button>
      </Group>
    </Modal>
  )
}

import { Button, Group, Modal, TextInput } from '@mantine/core'
import { type FormEvent, type ReactNode, useEffect, useState } from 'react'
import { useText } from '../i18n/language'
import { ErrorState } from './states'

/** Asks for the target's name before something that cannot be undone. */
export function ConfirmByTyping(props: {
  opened: boolean
  title: string
  target: string
  action: string
  error?: unknown
  busy?: boolean
  children: ReactNode
  onConfirm: () => void
  onClose: () => void
}) {
  const t = useText()
  const [typed, setTyped] = useState('')
  // Also whoever did it has to type the name anew before doing it once more.
  useEffect(() => {
    if (!props.opened) setTyped('')
  }, [props.opened])
  function submit(event: FormEvent) {
    event.preventDefault()
    if (typed === props.target) props.onConfirm()
  }
  return (
    <Modal opened={props.opened} onClose={props.onClose} title={props.title} closeButtonProps={{ 'aria-label': t('ui.close') }}>
      <form onSubmit={submit}>
        {props.children}
        <TextInput mt="sm" data-autofocus autoComplete="off" spellCheck={false} value={typed}
          label={t('ui.confirm.type', { target: props.target })} onChange={(e) => setTyped(e.currentTarget.value)} />
        {props.error ? <div style={{ marginTop: 12 }}><ErrorState error={props.error} /></div> : null}
        <Group mt="md" gap="xs" justify="flex-end">
          <Button onClick={props.onClose}>{t('ui.cancel')}</Button>
          <Button type="submit" variant="filled" color="#b3261e" disabled={typed !== props.target} loading={props.busy ?? false}>{props.action}</Button>
        </Group>
      </form>
    </Modal>
  )
}

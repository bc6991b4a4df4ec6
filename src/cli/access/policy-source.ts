import { CompiledPolicy } from '../../router/access/compiled-policy.ts'
import type { AccessPolicy } from '../../router/access/policy.ts'
import type { Environment } from '../../router/config/env.ts'
import { readPolicyConfig } from '../../router/config/read.ts'
import { errorMessage } from '../../util/text/error-message.ts'
import { readConfigFile } from '../target/config-file.ts'
import { FileWatch } from '../watch/file-watch.ts'

/** Options of {@link PolicySource}. */
export interface PolicySourceOptions {
  readonly env: Environment
  /** Called when the file of the policy has changed. An error that it throws is reported. */
  readonly onChange: (policy: AccessPolicy) => void
  /** Called with the reason why a changed file is not used; the policy stays as it was. */
  readonly onRejected: (reason: string) => void
}

/** The access policy of a router: an object of the configuration, or a file that is watched. */
export class PolicySource {
  readonly #options: PolicySourceOptions
  #watch: FileWatch | undefined

  constructor(options: PolicySourceOptions) {
    this.#options = options
  }

  /**
   * Returns a policy, and watches its file from now on, instead of the file before. Rejects for an invalid policy;
   * the file before is still watched then.
   */
  async use(policy: AccessPolicy | string | undefined): Promise<AccessPolicy | undefined> {
    if (typeof policy !== 'string') {
      if (policy !== undefined) checkCompiles(policy)
      await this.close()
      return policy
    }
    const { env } = this.#options
    const watch = new FileWatch(policy, {
      read: () => readConfigFile(policy),
      onChange: found => this.#changed(policy, found),
    })
    try {
      const found = await watch.open()
      if (found instanceof Error) throw found
      const read = checkCompiles(readPolicyConfig(found.text, { env, file: policy }))
      await this.close()
      this.#watch = watch
      return read
    } catch (error) {
      await watch.close()
      throw error
    }
  }

  /** Stops watching. */
  async close(): Promise<void> {
    await this.#watch?.close()
    this.#watch = undefined
  }

  #changed(file: string, found: { readonly text: string } | Error): void {
    const { env, onChange, onRejected } = this.#options
    try {
      if (found instanceof Error) throw found
      onChange(readPolicyConfig(found.text, { env, file }))
    } catch (error) {
      onRejected(errorMessage(error))
    }
  }
}

/** Reads a policy from a file, once. Rejects with a ConfigError for an invalid one. */
export async function readPolicyFile(path: string, env: Environment): Promise<AccessPolicy> {
  const { text } = await readConfigFile(path)
  return checkCompiles(readPolicyConfig(text, { env, file: path }))
}

function checkCompiles(policy: AccessPolicy): AccessPolicy {
  new CompiledPolicy(policy)
  return policy
}

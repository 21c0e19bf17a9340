import { describeUnless } from './describe-unless.ts';
import { engineError } from './environment.ts';

/** `describe` if a container engine runs that has the images of `images.ts` or can pull them. */
export async function describeWithContainers(title: string, tests: () => void): Promise<void> {
  describeUnless(await engineError(), title, tests);
}

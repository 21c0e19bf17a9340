// Preloaded by every npm script. Plain JavaScript, because the Node versions that it rejects cannot run TypeScript.
import module from 'node:module';

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 24 || (major === 24 && minor < 12)) {
  console.error(
    `Vitrine needs Node 24.12 or newer and was started by Node ${process.versions.node} (${process.execPath}).\n` +
      'The project brings its own: the npm package "node", whose install script puts Node 24 into node_modules/.bin.\n' +
      'That script seems to have been blocked. Allow it and install again:\n\n' +
      '  npm rebuild node --ignore-scripts=false && npm start\n\n' +
      'or use a Node 24 of your own and start again.',
  );
  process.exit(1);
}

// Node runs the TypeScript sources, and stripping their types takes 29 MB of memory. From the second start on, the stripped sources come
// from a cache in the system's temporary folder. If the cache cannot be written, only this saving is lost.
module.enableCompileCache();

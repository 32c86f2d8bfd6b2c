// The files of a graph as a tree of folders. The tree is made of arrays, so that a large repository needs no object for
// each file.

/**
 * Nodes in preorder: a folder comes before everything inside it. Node 0 is the root folder.
 * @typedef {object} Tree
 * @property {number} count
 * @property {Int32Array} parent -1 for the root.
 * @property {Int32Array} end The node after the last one inside: the node to visit next to skip a folder.
 * @property {Int32Array} file Index of the file in the graph, or -1 for a folder.
 * @property {Int32Array} nodeOf The node of each file.
 * @property {Int32Array} fileCount Number of files inside, or 1 for a file.
 * @property {Uint8Array} depth
 * @property {string[]} name A folder that contains only one folder has both names: `a/b`.
 * @property {string[]} path Without a trailing slash. Empty for the root.
 */

/** @typedef {{ name: string, path: string, folders: Folder[], files: number[] }} Folder */

/**
 * @param {{ path: string, name: string }[]} files Sorted by path.
 * @returns {Tree}
 */
export function treeOf(files) {
  const root = foldersOf(files);
  const capacity = countOf(root) + files.length;
  /** @type {Tree} */
  const tree = {
    count: 0,
    parent: new Int32Array(capacity),
    end: new Int32Array(capacity),
    file: new Int32Array(capacity),
    nodeOf: new Int32Array(files.length),
    fileCount: new Int32Array(capacity),
    depth: new Uint8Array(capacity),
    name: new Array(capacity),
    path: new Array(capacity),
  };
  addFolder(tree, root, -1, 0, files);
  tree.name.length = tree.count;
  tree.path.length = tree.count;
  return tree;
}

/**
 * The folders that contain a node, from the root down, and the node itself if it is a folder.
 * @param {Tree} tree
 * @param {number} node
 */
export function foldersAbove(tree, node) {
  const folders = [];
  for (let at = node; at >= 0; at = tree.parent[at]) {
    if (tree.file[at] < 0) folders.unshift(at);
  }
  return folders;
}

/** @param {{ path: string }[]} files */
function foldersOf(files) {
  /** @type {Folder} */
  const root = { name: '', path: '', folders: [], files: [] };
  const open = [root];
  files.forEach(({ path }, index) => {
    // Closes the folders that do not contain this file. Sorted paths keep the files of a folder together.
    while (open.length > 1 && !path.startsWith(`${open[open.length - 1].path}/`)) open.pop();
    let folder = open[open.length - 1];
    let from = folder === root ? 0 : folder.path.length + 1;
    for (let slash = path.indexOf('/', from); slash >= 0; slash = path.indexOf('/', from)) {
      const inner = { name: path.slice(from, slash), path: path.slice(0, slash), folders: [], files: [] };
      folder.folders.push(inner);
      open.push(inner);
      folder = inner;
      from = slash + 1;
    }
    folder.files.push(index);
  });
  return root;
}

/** @param {Folder} folder @returns {number} */
function countOf(folder) {
  return folder.folders.reduce((count, inner) => count + countOf(inner), 1);
}

/**
 * @param {Tree} tree
 * @param {Folder} folder
 * @param {number} parent
 * @param {number} depth
 * @param {{ path: string, name: string }[]} files
 */
function addFolder(tree, folder, parent, depth, files) {
  let { name } = folder;
  while (parent >= 0 && folder.folders.length === 1 && folder.files.length === 0) {
    folder = folder.folders[0];
    name = `${name}/${folder.name}`;
  }
  const node = tree.count++;
  tree.parent[node] = parent;
  tree.file[node] = -1;
  tree.depth[node] = Math.min(depth, 255);
  tree.name[node] = name;
  tree.path[node] = folder.path;
  for (const inner of folder.folders) addFolder(tree, inner, node, depth + 1, files);
  for (const file of folder.files) addFile(tree, file, node, depth + 1, files);
  tree.end[node] = tree.count;
  if (parent >= 0) tree.fileCount[parent] += tree.fileCount[node];
}

/**
 * @param {Tree} tree
 * @param {number} file
 * @param {number} parent
 * @param {number} depth
 * @param {{ path: string, name: string }[]} files
 */
function addFile(tree, file, parent, depth, files) {
  const node = tree.count++;
  tree.parent[node] = parent;
  tree.end[node] = tree.count;
  tree.file[node] = file;
  tree.nodeOf[file] = node;
  tree.fileCount[node] = 1;
  tree.fileCount[parent] += 1;
  tree.depth[node] = Math.min(depth, 255);
  tree.name[node] = files[file].name;
  tree.path[node] = files[file].path;
}

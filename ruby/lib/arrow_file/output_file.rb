# frozen_string_literal: true

require 'fileutils'
require 'arrow_file/message'

# Writes files that are complete at any time: a new file has a hidden name in the same folder, and is synced before it
# is renamed. Used by the plugin.
module ArrowFile
  # The facts about a file that this process has written, to append further record batches.
  Written = Struct.new(:path, :inode, :size, :data_size, :blocks, :bounds)

  class OutputFile
    # `metadata`: for the files.
    def initialize(fields, metadata)
      @fields = fields
      @metadata = metadata
    end

    # Makes a file with one record batch under `path`, or under a numbered name if `path` exists. Returns Written.
    def create(path, batch, bounds)
      FileUtils.mkdir_p(File.dirname(path))
      head = Message.head(@fields)
      written = Written.new(nil, nil, nil, 0, [], [])
      staged(path) do |file|
        file.write(head)
        written.data_size = head.bytesize
        add(file, written, batch, bounds)
        number = 0
        begin
          written.path = numbered(path, number)
          File.link(file.path, written.path)
        rescue Errno::EEXIST
          number += 1
          retry
        end
        File.unlink(file.path)
      end
      written
    end

    # Appends a record batch to a file of this process. False, with nothing done, when the file has changed meanwhile.
    def append(written, batch, bounds)
      File.open(written.path, 'r+b') do |old|
        old.flock(File::LOCK_EX)
        return false unless unchanged?(written, old)

        later = written.dup
        later.blocks = written.blocks.dup
        later.bounds = written.bounds.dup
        staged(written.path) do |file|
          IO.copy_stream(old, file, written.data_size)
          add(file, later, batch, bounds)
          File.rename(file.path, written.path)
        end
        later.each_pair { |key, value| written[key] = value }
      end
      true
    rescue Errno::ENOENT
      false
    end

    private

    def unchanged?(written, file)
      here = file.stat
      named = File.stat(written.path)
      [here.ino, here.size] == [written.inode, written.size] && named.ino == here.ino
    end

    # Writes the batch behind the data, then the footer, and syncs.
    def add(file, written, batch, bounds)
      written.blocks << Message::Block.new(written.data_size, batch.metadata.bytesize, batch.body.bytesize)
      written.bounds << bounds
      tail = Message.tail(@fields, written.blocks, @metadata, statistics(written.bounds))
      file.write(batch.metadata, batch.body, tail)
      file.flush
      file.fsync
      written.data_size += batch.metadata.bytesize + batch.body.bytesize
      written.inode = file.stat.ino
      written.size = file.stat.size
    end

    # min_values and max_values of each field; null for a batch with unknown bounds.
    def statistics(bounds)
      @fields.each_index.map do |i|
        items = bounds.map { |batch| batch[i] }
        next {} if items.none?

        { 'min_values' => items.map { |item| item ? item[0] : 'null' }.join(','),
          'max_values' => items.map { |item| item ? item[1] : 'null' }.join(',') }
      end
    end

    # Writes a file under a hidden name, like the programs of pg_strom: whoever finds such a file unlocked removes it.
    # If the block fails, the file is removed.
    def staged(path)
      remove_stale(File.dirname(path))
      name = File.join(File.dirname(path), format('.%s.strom-%d-%d-%x.tmp', File.basename(path).byteslice(0, 180).scrub('_'), Process.pid,
                                                  self.class.next_number, Process.clock_gettime(Process::CLOCK_REALTIME, :nanosecond) % 1_000_000_000))
      File.open(name, File::RDWR | File::CREAT | File::EXCL | File::BINARY, 0o666) do |file|
        file.flock(File::LOCK_EX | File::LOCK_NB)
        yield file
      ensure
        File.unlink(name) if File.exist?(name)
      end
      File.open(File.dirname(path), &:fsync)
    end

    # Removes temporary files of processes that were killed.
    def remove_stale(folder)
      Dir.each_child(folder) do |name|
        next unless /\A\..*\.strom-\d+-\d+-[0-9a-f]+\.tmp\z/.match?(name)

        File.open(File.join(folder, name), File::RDWR | File::NOFOLLOW | File::NONBLOCK) do |file|
          File.unlink(file.path) if file.flock(File::LOCK_EX | File::LOCK_NB)
        end
      rescue SystemCallError
        next # it is gone, or belongs to somebody else
      end
    end

    # NAME-1.arrow for NAME.arrow.
    def numbered(path, number)
      return path if number.zero?

      suffix = File.extname(path)
      "#{path.delete_suffix(suffix)}-#{number}#{suffix}"
    end

    @number = 0
    @lock = Mutex.new
    def self.next_number
      @lock.synchronize { @number += 1 }
    end
  end
end
